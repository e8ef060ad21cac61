package eventlog

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// An end that was waited for in vain overtakes text, and nothing else: not its turn's beginning.
func TestOvertake(t *testing.T) {
	for events, want := range map[string]string{
		"u bua b": "u bau b", "unua": "unau", "ua": "au", "a": "a", "uuau": "auuu", "ba": "ba", "u": "u",
	} {
		end := make(chan error, 1)
		w := &queue{}
		for _, e := range events {
			q := queued{event: correlation.UserSaid{Text: string(e)}}
			switch e {
			case 'u': // text
				q.bytes = 1
			case 'n': // that was put back
				q.bytes, q.n = 1, 1
			case 'a': // the end
				q.written = end
			}
			w.events = append(w.events, q)
		}
		w.overtake(make(chan error)) // written meanwhile
		w.overtake(end)
		got := ""
		for _, q := range w.events {
			got += q.event.(correlation.UserSaid).Text
		}
		if got != want {
			t.Errorf("%q became %q, want %q", events, got, want)
		}
	}
}

// The disk hangs where a write takes more than a second; that is told once, and not of a writer that rests.
func TestHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		q := &queue{o: Options{Now: time.Now, Tell: func(string) { told++ }}}
		for i, tt := range []struct {
			rests bool // the writer has nothing left
			takes time.Duration
			told  int
		}{{true, time.Hour, 0}, {false, time.Second, 0}, {false, 2 * time.Second, 1}, {false, 2 * time.Second, 1}} {
			q.add(correlation.TurnBegan{}, nil)
			q.take(1)
			if tt.rests {
				q.take(1)
			}
			time.Sleep(tt.takes)
			if q.overtake(nil); told != tt.told {
				t.Errorf("write %d: told %d times", i, told)
			}
		}
	})
}

// A queue takes events and text up to its limits, and what has no text also behind a full one; at its end nothing more,
// of which only text is a loss.
func TestQueueIsBounded(t *testing.T) {
	took := func(q *queue, e correlation.Event) bool {
		lost := q.lost.events
		q.add(e, nil)
		return q.lost.events == lost
	}
	q := &queue{o: Options{Now: time.Now}}
	for n := range 8192 {
		if !took(q, correlation.TurnBegan{Turn: n}) {
			t.Fatalf("event %d is lost", n)
		}
	}
	if took(q, correlation.TurnEnded{Turn: 1}) {
		t.Error("one more than it holds is taken")
	}

	q = &queue{o: Options{Now: time.Now}}
	page := strings.Repeat("x", 16<<10)
	for n := range 32 {
		if !took(q, correlation.AssistantSaid{Turn: 1, Text: page}) {
			t.Fatalf("page %d is lost", n)
		}
	}
	if took(q, correlation.AssistantSaid{Turn: 1, Text: "x"}) {
		t.Error("a byte more than it holds is taken")
	}
	if _, bytes := q.left(); bytes != 512<<10+1 {
		t.Errorf("%d bytes would be lost at the end", bytes)
	}
	q.waiting++ // as behind one long text
	if !took(q, correlation.TurnEnded{Turn: 1}) {
		t.Error("an event without text is lost behind a full queue")
	}
	q.end()
	queued, lost := len(q.events), q.lost
	written := make(chan error, 1)
	q.add(correlation.KeyStarted{Key: "k"}, written)
	if err := <-written; !errors.Is(err, ErrNotWritten) || len(q.events) != queued || q.lost != lost {
		t.Errorf("a hook behind the end: %v, %d events, lost %v", err, len(q.events), q.lost)
	}
	if took(q, correlation.AssistantSaid{Turn: 1, Text: "x"}) {
		t.Error("text is taken behind the end")
	}
}
