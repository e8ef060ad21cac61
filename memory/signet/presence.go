package signet

import (
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/Signet-AI/signet-acp-proxy/files"
)

// A presence is what is known of whether the daemon is there, and may be spoken to: all that asks goes by this.
//
// It keeps processes from paying, one after another, for a daemon that takes calls and does not answer. That state is a
// file, because most processes are short: when a call last cost time for nothing, and whether one was answered since.
// While a failure is fresh nobody calls the daemon; after that one process tries again in the background
// (Client.probe), and the others wait for the result.
type presence struct {
	file string // "": nothing is shared
	url  string
	now  func() time.Time

	mu      sync.Mutex // guards what follows: what the daemon last said of itself, and who listens there
	trusted time.Time  // until when agentsDir need not be asked again
	seen    bool       // it listens as our user or root
	version string     // the daemon's, as last seen
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
func (p *presence) allow() (t permission, done func()) {
	if !p.open() {
		return callAllowed, nil
	}
	s := p.read()[p.url]
	if p.now().Before(time.UnixMilli(s.Failed).Add(openFor(s.Times))) {
		return callDenied, nil
	}
	lock := flock.New(p.file+".lock", flock.SetPermissions(0o600))
	if locked, err := lock.TryLock(); err != nil || !locked {
		return callDenied, nil
	}
	return callProbe, func() { lock.Close() }
}

// open reports whether the daemon is left alone.
func (p *presence) open() bool {
	s := p.read()[p.url]
	return s.Failed > s.Answered
}

// failed notes a call that cost time for nothing. While the daemon is left alone that changes nothing.
func (p *presence) failed() {
	p.change(func(s *stamp) bool {
		now := p.now()
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
func (p *presence) answered() {
	p.change(func(s *stamp) bool {
		if s.Failed <= s.Answered {
			return false
		}
		s.Answered, s.Times = max(p.now().UnixMilli(), s.Failed), 0
		return true
	})
}

// maxStamps bounds the file, in bytes.
const maxStamps = 64 << 10

func (p *presence) read() (all map[string]stamp) {
	if p.file == "" {
		return nil
	}
	if info, err := os.Stat(p.file); err != nil || info.Size() > maxStamps {
		return nil
	}
	text, err := os.ReadFile(p.file)
	if err != nil || json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all
}

// change rewrites the file. Two processes that do so at once lose one stamp, which costs somebody one more call; so
// does a full disk.
func (p *presence) change(edit func(*stamp) bool) {
	if p.file == "" {
		return
	}
	all := p.read()
	s := all[p.url]
	if !edit(&s) {
		return
	}
	if all == nil {
		all = map[string]stamp{}
	}
	all[p.url] = s
	text, err := json.Marshal(all)
	if err != nil {
		return
	}
	_ = files.ReplaceText(p.file, 0o600, text)
}

var errOpen = errors.New("not asked: it did not answer within the last moments")

// trustFor is how long an unconfigured daemon is not asked again whose it is.
const trustFor = 30 * time.Second

// heard notes what a health reply said: the daemon's version, whether it is ours, and whether it is known who listens.
func (p *presence) heard(version string, ours, ownerKnown bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version = version
	p.trusted = time.Time{}
	p.seen = ours && ownerKnown
	if ours {
		p.trusted = p.now().Add(trustFor)
	}
}

// distrust makes the next call verify the daemon again: another may be listening there by now.
func (p *presence) distrust() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trusted, p.seen = time.Time{}, false
}

// isTrusted reports whether the daemon need not be asked again whose it is.
func (p *presence) isTrusted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now().Before(p.trusted)
}

// isOurs reports whether our user or root was seen to listen there.
func (p *presence) isOurs() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

func (p *presence) seenVersion() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version
}
