package delegation

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/delegation/bounds"
	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// Limits of a run.
const (
	openLimit  = time.Minute            // for initialize and session/new, each
	watchEvery = 100 * time.Millisecond // how often it is checked whether the run is to end
	noteEvery  = time.Second            // how often progress is saved
	steerEvery = time.Second            // how often a child that takes words in its turn is given some
	steerLimit = 5 * time.Second        // for its agent to take them
	diskEvery  = time.Second            // how often it is measured what the child has written
	// A cancelled child has cancelLimit to end its turn, then gets SIGTERM, and killLimit later SIGKILL: within two
	// seconds.
	cancelLimit = 400 * time.Millisecond
	killLimit   = 1200 * time.Millisecond
	leaveLimit  = time.Second      // from the end of its stdin to SIGTERM, when its work is done
	endLimit    = 30 * time.Second // for taking the work back and storing the end
)

// A Runner carries out one delegation, in a process of its own.
type Runner struct {
	Ledger    *Ledger
	Command   []string // the relay's command line without --agent and the name
	Version   string   // ours
	Bounded   bool     // the system keeps children to their folders
	Setup     []string // commands that are run in a child's folder before it works there
	CheckBy   string   // a command that is run there when it has made changes; "": none
	Copy      []string // what it gets although git ignores it
	Disk      int64    // how many bytes it may write; 0: no limit
	Memory    int64    // how many bytes of memory each of its processes may have; 0: no limit
	Reads     []string // files and folders that it may read and run beside what it needs
	Closed    []string // folders that no command of Setup may reach
	Unbounded bool     // a person lets children do what neither the system nor they themselves bound
	Ask       bool     // the caller's client is asked for what is not granted
	Granted   []string // kinds of tools that need a permission and have it: execute, fetch
	// ReadMode returns the mode in which an agent writes nothing, "" where none is known.
	ReadMode func(agent string) string
	// Made is called with a delegation's folder before the child works there.
	Made func(d Delegation, folder string) error
	// Ended is called with the delegation as it ended before that is stored, and may add to it.
	Ended func(ctx context.Context, d *Delegation)
	Log   zerolog.Logger
}

// A run is one run that is under way.
type run struct {
	Runner
	d        Delegation // as it began
	task     string     // word for word
	child    *child
	cwd      string        // where the child works
	inPlace  bool          // which is the caller's own folder
	readMode string        // the mode in which its agent writes nothing, "" for none
	place    *bounds.Place // of the child, nil where the system cannot bound it
	keep     bool          // its session can be opened again
	takes    bool          // its agent takes words in the middle of a turn
	later    []word        // that it did not take

	ctx    context.Context // ends when the run is to end
	cancel context.CancelCauseFunc
}

// A stop is why a run is to end before the child has ended by itself.
type stop struct {
	state State
	why   string
}

func (s stop) Error() string { return s.why }

// stop ends the run. Only the first call counts.
func (r *run) stop(state State, why string) { r.cancel(stop{state, why}) }

// stopped returns what stop was given first; the zero value: the run goes on.
func (r *run) stopped() (s stop) {
	errors.As(context.Cause(r.ctx), &s)
	return s
}

// note saves the run's progress.
func (r *run) note(ctx context.Context) {
	if err := r.Ledger.saveProgress(ctx, r.d, r.child.noted()); err != nil && ctx.Err() == nil {
		r.Log.Warn().Err(err).Str("delegation", r.d.ID).Msg("noting progress")
	}
}

// beside does work, and a task in a goroutine of its own that ends with the work.
func (r *run) beside(name string, task func(context.Context), work func() Delegation) Delegation {
	var group guard.Group
	ctx, done := context.WithCancel(r.ctx)
	group.Go(name, func() { task(ctx) })
	o := work()
	done()
	group.Wait()
	return o
}

// bound makes the folder for the child's state in root, and says what it may reach: in Edit it may change tree, and it
// reads others.
func (r *run) bound(root, tree string, others []string) error {
	if !r.Bounded {
		return nil
	}
	if err := bounds.Adopt(); err != nil {
		return err
	}
	r.place = &bounds.Place{Tree: tree, Edit: r.d.Mode == Edit, Reads: slices.Concat(others, r.Reads),
		State: filepath.Join(root, stateName), Caller: r.d.Cwd, Memory: r.Memory}
	return os.MkdirAll(r.place.State, 0o700)
}
