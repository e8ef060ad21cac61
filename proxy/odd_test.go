package proxy

import (
	"strings"
	"testing"
)

// A person may have a conversation forgotten that is still going on: nothing more of it is kept, and nothing breaks.
func TestForgottenWhileLive(t *testing.T) {
	p := newScenario(t)
	p.start(asItIs)
	p.open("session/new")
	p.prompt("hello there", succeed)
	if _, err := p.w.db.Exec(`DELETE FROM sessions`); err != nil {
		t.Fatal(err)
	}
	p.prompt("hello again", succeed)
	p.prompt("and again", succeed)
	p.c.close()
	all, err := p.w.store.Book().Sessions(t.Context(), 0)
	if err != nil || len(all) != 0 {
		t.Errorf("%d sessions, %v", len(all), err)
	}
}

// What the file of events says was forgotten is not recorded any more.
func TestForgotten(t *testing.T) {
	for _, gone := range []bool{false, true} {
		q := newQuiet(t).opened()
		if gone {
			q.database.folded(false, []int{q.one.Number})
		}
		if got := q.turn(t, textBlock("hello"), ""); (len(got) == 0) != gone {
			t.Errorf("forgotten %t: recorded %q", gone, got)
		}
	}
}

// A session that nobody here knows was told by another proxy if its history shows that.
func TestStrangeSession(t *testing.T) {
	for _, told := range []bool{false, true} {
		q := newQuiet(t, remembering(newSource()))
		q.sends(t, `{"jsonrpc":"2.0","id":1,"method":"session/load","params":`+loadParams("s3")+`}`)
		if told {
			q.says(t, update("s3", `{"sessionUpdate":"user_message_chunk","content":`+textBlock(sampleBlock+"hello")+`}`))
		}
		q.says(t, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		q.settle(t, "s3")
		if got := q.sends(t, promptTo("s3", "["+textBlock("hello")+"]")); strings.Contains(got, markLetters) == told {
			t.Errorf("told by another %t: %s", told, got)
		}
	}
}
