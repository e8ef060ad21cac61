package eventlog

import (
	"errors"
	"os"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Options of a Log.
type Options struct {
	// Dir is the folder of the files and locks of living processes ($SIGNET_PATH/acp/live), made when needed.
	Dir string
	// Process says whose file it is. ID empty, or another process's: a new one.
	Process correlation.ProcessInfo
	Now     func() time.Time // nil: time.Now
	Log     zerolog.Logger
	// Tell tells a person something, in one line; it may be nil.
	Tell func(string)
	// Folded is called after events were folded in. ended: a turn has ended, or said more, so that there may be
	// something to learn. gone are sessions that the database does not know any more, for a person had them forgotten:
	// nothing more of them is kept. It may be nil.
	Folded func(ended bool, gone []int)
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
	// ErrNotWritten says that an event is not in the file, or not yet.
	ErrNotWritten = errors.New("not written yet")
	// ErrClosed says that nothing is folded in any more.
	ErrClosed = errors.New("the file of events is closed")
)
