package proxy

import (
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
	all, err := p.w.store.Sessions(t.Context(), 0)
	if err != nil || len(all) != 0 {
		t.Errorf("%d sessions, %v", len(all), err)
	}
}
