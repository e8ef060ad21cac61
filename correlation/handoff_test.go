package correlation_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
)

// A source is what a session goes on from.
type source struct {
	session int64
	handed  bool
}

// before says what a session goes on from.
func (b *bench) before(session Session, names ...string) source {
	b.tb.Helper()
	before, handed, err := b.Continued(b.ctx(), session.ID, names)
	check(b.tb, err)
	return source{before, handed}
}

// The next session of the agent that begins there takes a handoff, within an hour and once.
func TestHandoff(t *testing.T) {
	b := newBench(t)
	for i, tt := range []struct {
		name    string
		o       OpenSession
		names   []string
		early   bool          // it began before the handoff
		later   time.Duration // or so long after it
		another string        // the agent that the handoff is for, if not codex
		takes   bool
	}{
		{name: "the next one", names: []string{"codex"}, takes: true},
		{name: "by another of its names", names: []string{"my-codex", "codex"}, takes: true},
		{name: "whatever the case", names: []string{"codex"}, another: "Codex", takes: true},
		{name: "within the hour", names: []string{"codex"}, later: time.Hour, takes: true},
		{name: "in a folder of the project", o: OpenSession{Cwd: "/home/u/acme/cmd"}, names: []string{"codex"}, takes: true},
		{name: "later", names: []string{"codex"}, later: time.Hour + time.Minute},
		{name: "another agent", names: []string{"claude"}},
		{name: "no name at all"},
		{name: "another project", o: OpenSession{Project: "/home/u/other"}, names: []string{"codex"}},
		{name: "one that is there", names: []string{"codex"}, early: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			place := fmt.Sprintf("/home/u/acme-%d", i)
			if tt.o.Project == "" {
				tt.o.Project = place
			}
			tt.o.ACPID, tt.o.New = fmt.Sprintf("taker-%d", i), true
			first := b.open(OpenSession{ACPID: fmt.Sprintf("first-%d", i), Project: place, New: true})
			b.turn(first.ID, "p", "the port is 7443", "ok")
			b.clock.Advance(time.Minute)
			var taker Session
			if tt.early {
				taker = b.open(tt.o)
				b.clock.Advance(time.Minute)
			}
			if tt.another == "" {
				tt.another = "codex"
			}
			check(t, b.Handoff(t.Context(), first.ID, tt.another))
			b.clock.Advance(tt.later)
			if !tt.early {
				taker = b.open(tt.o)
			}
			want := source{}
			if tt.takes {
				want = source{first.ID, true}
			}
			for range 2 { // its first prompt may have been refused
				if got := b.before(taker, tt.names...); got != want {
					t.Errorf("it goes on from %+v, want %+v", got, want)
				}
			}
			if handed := must(b.Book().Handoffs(t.Context()))(t); tt.takes != (handed[taker.ID] == first.ID) {
				t.Errorf("handed: %v", handed)
			}
			if tt.takes { // once
				tt.o.ACPID += "-next"
				if got := b.before(b.open(tt.o), tt.names...); got.session != 0 {
					t.Errorf("the session after it takes it too")
				}
			}
			b.claim(taker.ID, b.register(ProcessInfo{}).ID(), Armed)
			if got := b.before(taker, tt.names...); got.session != 0 {
				t.Error("it is told again")
			}
		})
	}
}

// Of many that begin at once one alone takes it.
func TestHandoffRace(t *testing.T) {
	b := newBench(t)
	first := b.open(OpenSession{ACPID: "first", Cwd: "/tmp/x", New: true})
	b.turn(first.ID, "p", "hello", "ok")
	check(t, b.Handoff(t.Context(), first.ID, "codex"))
	check(t, b.Handoff(t.Context(), first.ID, "codex")) // which takes the place of the one before
	var group sync.WaitGroup
	took := make(chan bool, 8)
	for i := range cap(took) {
		other := b.another()
		s := other.open(OpenSession{ACPID: fmt.Sprint("taker-", i), Cwd: "/tmp/x", New: true})
		group.Go(func() {
			before, _, err := other.Continued(t.Context(), s.ID, []string{"codex"})
			if err != nil {
				t.Error(err)
			}
			took <- before == first.ID
		})
	}
	group.Wait()
	n := 0
	for range cap(took) {
		if <-took {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d took it", n)
	}
}

// What a session goes on from reaches back over places taken, handoffs and forks, each as far as it knows.
func TestLastTurns(t *testing.T) {
	b := newBench(t)
	say := func(s Session, words string) {
		b.clock.Advance(time.Minute)
		b.turn(s.ID, "p", words, "ok")
		b.clock.Advance(time.Minute)
	}
	open := func(o OpenSession) Session {
		o.New, o.Cwd = true, "/tmp/x"
		return b.open(o)
	}
	first := open(OpenSession{ACPID: "first"})
	say(first, "1 first")
	second := open(OpenSession{ACPID: "second", ContinueOf: first.ID})
	say(second, "2 second")
	fork := open(OpenSession{ACPID: "fork", ForkOf: second.ID})
	say(second, "behind the fork")
	say(fork, "3 fork")
	check(t, b.Handoff(t.Context(), fork.ID, "codex"))
	taker := open(OpenSession{ACPID: "taker"})
	if got := b.before(taker, "codex"); got.session != fork.ID {
		t.Fatalf("it goes on from %+v", got)
	}
	say(fork, "behind the handoff")
	say(taker, "4 taker")
	last := open(OpenSession{ACPID: "last", ContinueOf: taker.ID})
	if got := b.before(last, "codex"); got != (source{taker.ID, false}) {
		t.Fatalf("it goes on from %+v", got)
	}
	words := func(limit int) string {
		var all []string
		for _, turn := range must(b.Book().LastTurns(t.Context(), taker.ID, limit))(t) {
			all = append(all, turn.User)
		}
		return strings.Join(all, ", ")
	}
	if diff := cmp.Diff("1 first, 2 second, 3 fork, 4 taker", words(50)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("1 first, 3 fork, 4 taker", words(2)); diff != "" {
		t.Error(diff)
	}
	if _, err := b.Forget(t.Context(), fork.ID, nil); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(words(50), "fork") {
		t.Errorf("what was forgotten is told: %s", words(50))
	}
}

// There is nothing to go on from where nothing was said, and nobody to hand over.
func TestNothingToGoOnFrom(t *testing.T) {
	b := newBench(t)
	empty := b.open(OpenSession{ACPID: "empty", Cwd: "/tmp/x", New: true})
	if got := b.before(b.open(OpenSession{ACPID: "next", ContinueOf: empty.ID, New: true}), "codex"); got.session != 0 {
		t.Errorf("it goes on from %+v", got)
	}
	if err := b.Handoff(t.Context(), 4711, "codex"); !errors.Is(err, ErrNotFound) {
		t.Errorf("handing over nobody: %v", err)
	}
}
