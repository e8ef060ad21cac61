package delivery

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// numbered makes turns that can be told apart, the transcript of which has about so many characters.
func numbered(from, turns, size int) (all []correlation.Turn) {
	for i := range turns {
		words := strings.Repeat("word ", max(size/turns/10-4, 1))
		all = append(all, turn(fmt.Sprintf("q%d. %s", from+i, words), fmt.Sprintf("a%d. %s", from+i, words)))
	}
	return all
}

// held counts the jobs of the daemon in which a turn's question and answer stand.
func (p *post) held(number int) (times int) {
	for _, j := range p.daemon.Jobs() {
		if q := strings.Count(j.Text, fmt.Sprintf("User: q%d. ", number)); q > 0 {
			times += q
		}
	}
	return times
}

// A process has a session that goes on.
type living struct {
	*correlation.Process
	session correlation.Session
}

func (p *post) live(id string) *living {
	p.t.Helper()
	process, err := p.store.Register(p.t.Context(), correlation.ProcessInfo{Kind: correlation.Relay, Memory: "daemon"})
	check(p.t, err)
	s, err := correlationtest.Session(p.t.Context(), p.store, correlation.OpenSession{Harness: "echo", ACPID: id, Cwd: "/work",
		Project: "/work", Process: process.ID()})
	check(p.t, err)
	return &living{process, s}
}

func (p *post) saidBy(l *living, turns []correlation.Turn) {
	p.t.Helper()
	for i := range turns {
		p.later(time.Second)
		turns[i].Session, turns[i].Process, turns[i].Started, turns[i].Ended = l.session.ID, l.ID(), p.clock(), p.clock()
	}
	check(p.t, correlationtest.Save(p.t.Context(), p.store, turns))
}

// soFar hands over what a session has said.
func (p *post) soFar(l *living) {
	p.t.Helper()
	_, err := l.OweSoFar(p.t.Context(), l.session.Key)
	check(p.t, err)
	p.work()
}

func (p *post) leave(l *living) {
	p.t.Helper()
	check(p.t, l.Process.End(p.t.Context(), "ended"))
	p.later(25 * time.Hour) // also what is not worth a job by itself
	p.work()
}

// What was lost on 0.145.8, which extracts the longest transcript that it has had for a key (docs/facts/signet-daemon.md,
// "The end of a session"). What was said is held once, and the daemon takes no session of ours to be live.
func TestHeldOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		turns int
		do    func(p *post)
	}{
		"a resume that is shorter: 25,104 characters, then 5,384": {26, func(p *post) {
			l := p.live("one")
			p.saidBy(l, numbered(0, 20, 25104))
			p.leave(l)
			l = p.live("one")
			p.saidBy(l, numbered(20, 6, 5384))
			p.leave(l)
		}},
		"45 turns of one process, in parts": {45, func(p *post) {
			l := p.live("one")
			for from := 0; from < 40; from += 20 {
				p.saidBy(l, numbered(from, 20, 24000-from*300))
				p.soFar(l)
			}
			p.saidBy(l, numbered(40, 5, 3000))
			p.leave(l)
		}},
		"parts of 78,515 and 78,508": {30, func(p *post) {
			l := p.live("one")
			turns := numbered(0, 30, 157023)
			turns[0].User += strings.Repeat("word ", 30)
			p.saidBy(l, turns)
			p.leave(l)
		}},
		"a later part that is longer: 3,024, then 3,216": {8, func(p *post) {
			for from := 0; from < 8; from += 4 {
				l := p.live("one")
				p.saidBy(l, numbered(from, 4, 3024+from*50))
				p.leave(l)
			}
		}},
		"what is handed over while the session goes on, and nothing after it": {20, func(p *post) {
			l := p.live("one")
			p.saidBy(l, numbered(0, 20, 24000))
			p.soFar(l)
			p.leave(l)
		}},
		"an answer that is lost, and more that is said until it is posted again": {7, func(p *post) {
			l := p.live("one")
			p.saidBy(l, numbered(0, 1, 2000))
			p.daemon.Fail(daemontest.Fault{Path: endPath, Kind: daemontest.Drop, Times: 1})
			check(p.t, l.Process.End(p.t.Context(), "ended"))
			p.work()
			l = p.live("one")
			p.saidBy(l, numbered(1, 6, 6000))
			p.leave(l)
			p.work()
		}},
	} {
		for _, kind := range kinds() {
			t.Run(name+", "+kind.Version(), func(t *testing.T) {
				p := newPost(t, kind)
				tt.do(p)
				for i := range tt.turns {
					if n := p.held(i); n != 1 {
						t.Errorf("turn %d is held %d times", i, n)
					}
				}
				if left := p.daemon.Sessions(); len(left) != 0 {
					t.Errorf("live: %v", left)
				}
			})
		}
	}
}

// A part whose answer is lost stands in one job, where the daemon tells that it had it.
func TestPartsAnsweredTooLate(t *testing.T) {
	for _, kind := range []daemontest.Generation{daemontest.Middle, daemontest.Newer} {
		p := newPost(t, kind)
		l := p.live("one")
		p.saidBy(l, numbered(0, 30, 157023))
		p.daemon.Fail(daemontest.Fault{Path: endPath, Kind: daemontest.DropAfter, Times: 1})
		p.leave(l)
		p.later(time.Second)
		p.work()
		for i := range 30 {
			if n := p.held(i); n != 1 {
				t.Errorf("%s: turn %d is held %d times", kind.Version(), i, n)
			}
		}
	}
}

// A session that is switched off once it has begun is not handed over under other keys.
func TestSwitchedOffMeanwhile(t *testing.T) {
	for _, kind := range kinds() {
		p := newPost(t, kind)
		l := p.live("one")
		p.daemon.Claim(l.session.Key, "plugin")
		p.saidBy(l, numbered(0, 20, 20000))
		p.daemon.Bypass(l.session.Key, true)
		p.soFar(l)
		p.leave(l)
		if n := len(p.daemon.Jobs()); n != 0 {
			t.Errorf("%s: %d jobs", kind.Version(), n)
		}
	}
}
