package signet

import (
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/Signet-AI/signet-acp-proxy/files"
)

// A sharedBreaker keeps processes from paying, one after another, for a daemon that takes calls and does not answer.
// Its state is a file, because most processes are short: when a call last cost time for nothing, and whether one was
// answered since. While a failure is fresh nobody calls the daemon; after that one process tries again in the
// background (Client.probe), and the others wait for the result.
type sharedBreaker struct {
	file string // "": nothing is shared
	url  string
	now  func() time.Time
}

// A stamp is what the file says of one daemon. Times are Unix milliseconds.
type stamp struct {
	Failed   int64 `json:"failed"`
	Times    int   `json:"times"` // calls in a row that failed
	Answered int64 `json:"answered"`
}

// costly is how long a failed call must have taken to count: one that is refused at once costs nothing.
const costly = 250 * time.Millisecond

// openFor is how long a daemon is left alone after so many failures in a row.
func openFor(times int) time.Duration {
	for n, d := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute} {
		if times <= n+1 {
			return d
		}
	}
	return 5 * time.Minute
}

// A permission says whether a call may be made now.
type permission int

const (
	callAllowed permission = iota // it may
	callDenied                    // the daemon is left alone
	callProbe                     // this process may probe it, beside the conversation, and must call done
)

// allow says whether a call may be made now.
func (r sharedBreaker) allow() (t permission, done func()) {
	if !r.open() {
		return callAllowed, nil
	}
	s := r.read()[r.url]
	if r.now().Before(time.UnixMilli(s.Failed).Add(openFor(s.Times))) {
		return callDenied, nil
	}
	lock := flock.New(r.file+".lock", flock.SetPermissions(0o600))
	if locked, err := lock.TryLock(); err != nil || !locked {
		return callDenied, nil
	}
	return callProbe, func() { lock.Close() }
}

// open reports whether the daemon is left alone.
func (r sharedBreaker) open() bool {
	s := r.read()[r.url]
	return s.Failed > s.Answered
}

// failed notes a call that cost time for nothing. While the daemon is left alone that changes nothing.
func (r sharedBreaker) failed() {
	r.change(func(s *stamp) bool {
		now := r.now()
		if s.Failed > s.Answered && now.Before(time.UnixMilli(s.Failed).Add(openFor(s.Times))) {
			return false
		}
		if s.Failed <= s.Answered {
			s.Times = 0
		}
		s.Failed, s.Times = now.UnixMilli(), s.Times+1
		return true
	})
}

// answered notes a call that was answered, where the last one had failed.
func (r sharedBreaker) answered() {
	r.change(func(s *stamp) bool {
		if s.Failed <= s.Answered {
			return false
		}
		s.Answered, s.Times = max(r.now().UnixMilli(), s.Failed), 0
		return true
	})
}

// maxStamps bounds the file, in bytes.
const maxStamps = 64 << 10

func (r sharedBreaker) read() (all map[string]stamp) {
	if r.file == "" {
		return nil
	}
	if info, err := os.Stat(r.file); err != nil || info.Size() > maxStamps {
		return nil
	}
	text, err := os.ReadFile(r.file)
	if err != nil || json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all
}

// change rewrites the file. Two processes that do so at once lose one stamp, which costs somebody one more call; so
// does a full disk.
func (r sharedBreaker) change(edit func(*stamp) bool) {
	if r.file == "" {
		return
	}
	all := r.read()
	s := all[r.url]
	if !edit(&s) {
		return
	}
	if all == nil {
		all = map[string]stamp{}
	}
	all[r.url] = s
	text, err := json.Marshal(all)
	if err != nil {
		return
	}
	_ = files.ReplaceText(r.file, 0o600, text)
}

var errOpen = errors.New("not asked: it did not answer within the last moments")
