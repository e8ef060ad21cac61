package signet

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// A rest keeps processes from paying, one after another, for a daemon that takes
// calls and does not answer. It is a file, for most processes are short: when a
// call last cost time for nothing, and whether one was answered since. While that
// is fresh nobody waits for the daemon; after that one process tries, beside its
// conversation, and the others wait for what it finds.
type rest struct {
	file string // "": no rest is shared
	url  string
	now  func() time.Time
}

// A stamp is what the file says of a daemon, by url. Times are unix milliseconds.
type stamp struct {
	Failed   int64 `json:"failed"`
	Times    int   `json:"times"` // tries in a row that failed
	Answered int64 `json:"answered"`
}

// costly is how long a call takes at least that others should be spared: one that
// is refused at once costs nothing.
const costly = 250 * time.Millisecond

// restFor is how long a daemon is left alone after so many failed tries.
func restFor(times int) time.Duration {
	for n, d := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute} {
		if times <= n+1 {
			return d
		}
	}
	return 5 * time.Minute
}

// A turn says who may call now.
type turn int

const (
	callAway turn = iota // nothing speaks against it
	callNone             // the daemon is left alone
	callTry              // this process may try it, beside the conversation: done must be called
)

// take says whether a call may be made now.
func (r rest) take() (t turn, done func()) {
	if !r.rests() {
		return callAway, nil
	}
	s := r.read()[r.url]
	if r.now().Before(time.UnixMilli(s.Failed).Add(restFor(s.Times))) {
		return callNone, nil
	}
	lock := flock.New(r.file+".lock", flock.SetPermissions(0o600))
	if locked, err := lock.TryLock(); err != nil || !locked {
		return callNone, nil
	}
	return callTry, func() { lock.Close() }
}

// rests reports whether the daemon is left alone.
func (r rest) rests() bool {
	s := r.read()[r.url]
	return s.Failed > s.Answered
}

// failed notes a call that cost time for nothing. What is noted within a rest
// makes that no longer.
func (r rest) failed() {
	r.change(func(s *stamp) bool {
		now := r.now()
		if s.Failed > s.Answered && now.Before(time.UnixMilli(s.Failed).Add(restFor(s.Times))) {
			return false
		}
		if s.Failed <= s.Answered {
			s.Times = 0
		}
		s.Failed, s.Times = now.UnixMilli(), s.Times+1
		return true
	})
}

// answered notes a call that was answered, where that is news.
func (r rest) answered() {
	r.change(func(s *stamp) bool {
		if s.Failed <= s.Answered {
			return false
		}
		s.Answered, s.Times = max(r.now().UnixMilli(), s.Failed), 0
		return true
	})
}

// mostStamps bounds the file, in bytes.
const mostStamps = 64 << 10

func (r rest) read() (all map[string]stamp) {
	if r.file == "" {
		return nil
	}
	if info, err := os.Stat(r.file); err != nil || info.Size() > mostStamps {
		return nil
	}
	text, err := os.ReadFile(r.file)
	if err != nil || json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all
}

// change writes the file anew. Two that do so at once lose one stamp, which costs
// somebody one more try; so does a disk that takes no more.
func (r rest) change(edit func(*stamp) bool) {
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
	f, err := os.CreateTemp(filepath.Dir(r.file), filepath.Base(r.file)+"-")
	if err != nil {
		return
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), r.file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
}

var errResting = errors.New("not asked: it did not answer within the last moments")
