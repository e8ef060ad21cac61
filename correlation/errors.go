package correlation

import (
	"errors"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What callers branch on.
var (
	ErrNotFound     = errors.New("not found")
	ErrAmbiguous    = errors.New("names more than one session")
	ErrStateChanged = errors.New("the state has changed")
	ErrNothingDue   = errors.New("nothing is due")
	ErrLeaseLost    = errors.New("the lease was lost")
	ErrReplaced     = errors.New("the database was removed or replaced while it was open")
	ErrTaken        = errors.New("another process has this id")
)

// ErrBusy is the error of package sqlite that callers branch on.
var ErrBusy = sqlite.ErrBusy
