package proxy

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// The goroutine of the sessions hangs, as on a folder that does not answer: a frame waits for it no longer than its
// limit, and what comes from beside the conversation waits until it goes on, so that nothing is lost.
func TestBusySessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQuiet(t).opened()
		hang := func() {
			go q.talk.Do(func(*session.Connection) { time.Sleep(10 * time.Second) })
			time.Sleep(time.Millisecond)
		}
		q.database.backend.Store(&Backend{Memory: newSource(), Ledger: hanging{&shelf{}, hang},
			Parent: func(context.Context, string) string { hang(); return "acp-p" }})
		var s *session.Session
		q.talk.Do(func(c *session.Connection) {
			s = c.OpeningAsked("load s9", methodLoad, session.Opening{Kind: session.OpensKnown, Target: "s9"})
		})
		if of := q.settled(s, time.Minute); of.Who.ParentKey != "acp-p" {
			t.Errorf("of a look-up is known %+v", of)
		}
		hang()
		began := time.Now()
		if q.talk.Do(func(*session.Connection) {}) || time.Since(began) != time.Second {
			t.Errorf("a frame waited %v", time.Since(began))
		}
		title := correlation.Titled{Session: q.one.Number, Title: "Herons"}
		if q.recorder.add(q.one, nil, nil, title); !slices.Contains(q.events.take(), correlation.Event(title)) {
			t.Error("words are lost")
		}
	})
}

// hanging is a ledger that has the goroutine of the sessions hang.
type hanging struct {
	Ledger
	hang func()
}

func (l hanging) Find(ctx context.Context, harness, id string) (correlation.Session, error) {
	l.hang()
	return l.Ledger.Find(ctx, harness, id)
}

// A title that is made of the user's words waits for a recorder that hangs no longer than it may.
func TestBusyRecorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQuiet(t, remembering(newSource())).opened()
		q.recorder.stopped = make(chan struct{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if q.down.firstWords(ctx, q.one, 1); time.Since(began) != time.Second {
			t.Errorf("it waited %v", time.Since(began))
		}
	})
}
