package delegation

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Limits of a run.
const (
	openLimit  = time.Minute            // for initialize and session/new, each
	watchEvery = 100 * time.Millisecond // how often it is checked whether the run is to end
	noteEvery  = time.Second            // how often progress is saved
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
	Folders   string   // the folder in which the children's folders are made
	Version   string   // ours
	Bounded   bool     // the system keeps children to their folders
	Setup     []string // commands that are run in a child's folder before it works there
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
	// Ended is called with the outcome before it is stored.
	Ended func(ctx context.Context, d Delegation, o Outcome)
	Log   zerolog.Logger
}

// Run carries a delegation out, unless another process does or it may not begin any more. Errors are the database's;
// how the run went is in the row.
func (r Runner) Run(ctx context.Context, id string, told Assignment) error {
	lock, err := correlation.TakeLock(r.Ledger.live, correlation.NewProcessID())
	if err != nil {
		return err
	}
	defer lock.Release()
	d, err := r.Ledger.Begin(ctx, id, lock.ID())
	if errors.Is(err, errTaken) {
		return nil
	}
	if err != nil {
		return err
	}
	r.Log.Info().Str("delegation", d.ID).Str("agent", d.Agent).Int("depth", d.Depth).Msg("delegation begins")
	o := r.carryOut(ctx, d, lock.ID(), told)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	r.Ended(end, d, o)
	for err = r.Ledger.End(end, d.ID, lock.ID(), o); err != nil && !errors.Is(err, errTaken) && end.Err() == nil; {
		select {
		case <-time.After(noteEvery): // the disk may be full for a while
		case <-end.Done():
		}
		err = r.Ledger.End(end, d.ID, lock.ID(), o)
	}
	r.Log.Info().Str("delegation", d.ID).Str("state", string(o.State)).Msg("delegation ended")
	r.tidy(end)
	return err
}

// tidy removes the folders of runs that were killed, and trees that are kept no longer.
func (r Runner) tidy(ctx context.Context) {
	err := r.Ledger.RemoveTrees(ctx, r.Folders, MaxTrees)
	left, failed := r.Ledger.notRemoved(ctx)
	err = errors.Join(err, failed)
	for _, d := range left {
		if err == nil {
			err = r.Ledger.Discard(ctx, r.Folders, d)
		}
	}
	if err != nil {
		r.Log.Warn().Err(err).Msg("removing folders that were left")
	}
}
