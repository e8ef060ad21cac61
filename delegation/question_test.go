package delegation

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/acpclient"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
)

// What a child wants to be allowed is asked of the session that delegates while its turn runs, and of nobody else.
func TestAskCaller(t *testing.T) { synctest.Test(t, testAskCaller) }

func testAskCaller(t *testing.T) {
	l := newLedger(t)
	sessions := correlation.New(l.db, correlation.Options{})
	s, err := correlationtest.Session(t.Context(), sessions, correlation.OpenSession{Harness: "claude", ACPID: "a", New: true, Process: "p"})
	if err != nil {
		t.Fatal(err)
	}
	turns := []correlation.Turn{{Session: s.ID, Process: "p", User: "go"}}
	if err := correlationtest.Save(t.Context(), sessions, turns); err != nil {
		t.Fatal(err)
	}
	who := robin
	who.Key, who.Turn = s.Key, turns[0].ID
	d, lock := l.begin(t, l.must(t, who, want(1)).ID)
	defer func() { _ = lock.Release() }()
	ask := func(d Delegation) (allowed bool, why string) {
		return l.askCaller(t.Context(), d, questionOf(d, acpclient.ToolCall{Title: "rm \x1b[31m-rf", ToolKind: "execute"}))
	}
	nobody := d
	nobody.Turn = 0
	if allowed, why := ask(nobody); allowed || why != "no one is there to ask" {
		t.Errorf("without a turn: %v, %s", allowed, why)
	}
	for _, tt := range []struct {
		do   func(Question) error
		want bool
		why  string
	}{
		{func(q Question) error { return l.Answer(t.Context(), q.ID, true) }, true, ""},
		{func(q Question) error { return l.Answer(t.Context(), q.ID, false) }, false, "the user said no"},
		{func(Question) error {
			_, err := l.db.Exec(`UPDATE turns SET ended = 1, stop = 'end_turn'`)
			return err
		}, false, "the turn that asked has ended"},
		{func(Question) error { time.Sleep(59 * time.Second); return nil }, false, "no answer"},
	} {
		if _, err := l.db.Exec(`UPDATE turns SET ended = 0, stop = ''`); err != nil {
			t.Fatal(err)
		}
		began, done := time.Now(), make(chan struct{})
		go func() {
			defer close(done)
			if allowed, why := ask(d); allowed != tt.want || why != tt.why {
				t.Errorf("%v, %q, want %q", allowed, why, tt.why)
			}
		}()
		synctest.Wait()
		all, err := l.Questions(t.Context(), []string{"other", s.Key})
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 1 || all[0].Key != s.Key || all[0].Kind != "execute" ||
			all[0].Title != "codex, your delegated agent, asks: rm [31m-rf" {
			t.Errorf("asked: %+v", all)
		}
		if others, err := l.Questions(t.Context(), []string{"other"}); len(others) != 0 || err != nil {
			t.Errorf("another session is asked: %v, %v", others, err)
		}
		if err := tt.do(all[0]); err != nil {
			t.Fatal(err)
		}
		select {
		case <-done:
			t.Errorf("%q before anything was said", tt.why)
		default:
		}
		<-done
		if took := time.Since(began); tt.why == "no answer" && took != time.Minute || took > time.Minute {
			t.Errorf("%q after %v", tt.why, took)
		}
		if left, err := l.Questions(t.Context(), []string{s.Key}); len(left) != 0 || err != nil {
			t.Errorf("it is still asked: %v, %v", left, err)
		}
	}
}
