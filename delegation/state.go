package delegation

// A State of a delegation. Those after Running are final.
type State string

// The states.
const (
	Queued    State = "queued"    // no runner has begun it
	Running   State = "running"   // its runner lives
	Done      State = "done"      // the other agent ended its turn by itself
	Failed    State = "failed"    // it could not be run, or the other agent failed
	Cancelled State = "cancelled" // the caller, or its end, ended it
	Stopped   State = "stopped"   // its budget was used up
	Lost      State = "lost"      // its runner was killed: how far it came is not known
)

// Ended reports whether the state is final.
func (s State) Ended() bool { return s != Queued && s != Running }
