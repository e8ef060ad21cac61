package eventlog

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Options of a Log.
type Options struct {
	// Dir is the folder of the locks and event files of living processes ($SIGNET_PATH/acp/live), made when needed.
	Dir string
	// Process says who writes. If ID is empty, or another process has it, a new one is made.
	Process correlation.ProcessInfo
	Now     func() time.Time // nil: time.Now
	Log     zerolog.Logger
	// Tell tells a person something, in one line. It may be nil.
	Tell func(string)
	// Folded is called after events were written into the database. ended: a turn has ended, or has more text, so that
	// there may be something to learn. gone are the numbers of sessions that a person has had forgotten: nothing more
	// of them is kept. It may be nil.
	Folded func(ended bool, gone []int)

	// Checkpoint brings the database's log into its file, on a connection of its own: it may take long. It may be nil.
	Checkpoint func(context.Context) error
}

func (o *Options) defaults() {
	if o.Process.ID == "" {
		o.Process.ID = correlation.NewProcessID()
	}
	if o.Process.PID == 0 {
		o.Process.PID = os.Getpid()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	if o.Folded == nil {
		o.Folded = func(bool, []int) {}
	}
}

var (
	// ErrNotWritten says that an event is neither in the database nor in the event file, or not yet.
	ErrNotWritten = errors.New("not written yet")
	// errClosed says that nothing is written any more.
	errClosed = errors.New("nothing is recorded any more")
)
