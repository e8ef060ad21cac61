package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory/backfill"
)

// What is written is what backfill reads: every word of either speaker, in order.
func TestWrite(t *testing.T) {
	home, name := t.TempDir(), filepath.Join(t.TempDir(), "d.json")
	text := `{"name":"d1","speakers":["Ann","Bob"],"sessions":[{"n":1,"turns":[
		{"who":"Bob","at":"2023-05-08T13:56:00Z","text":"Hello."},{"who":"Ann","at":"2023-05-08T13:57:00Z","text":"Hello, Bob."},
		{"who":"Bob","at":"2023-05-08T13:58:00Z","text":"The keel is lead."}]}]}`
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(home, "/srv/boats", name); err != nil {
		t.Fatal(err)
	}
	var said []string
	err := backfill.Walk(t.Context(), backfill.Place{Home: home}, "claude", backfill.Visitor{
		Conversation: func(c backfill.Conversation) error {
			if c.ID != "d1-001-0123456789" || c.Cwd != "/srv/boats" {
				t.Errorf("%s in %s", c.ID, c.Cwd)
			}
			for _, turn := range c.Turns {
				said = append(said, turn.User, turn.Assistant)
			}
			return nil
		},
		Skip: func(s backfill.Skip) { t.Errorf("skipped: %v", s) },
	})
	if want := []string{"Go on.", "Hello.", "Hello, Bob.", "The keel is lead."}; err != nil ||
		!slices.Equal(said, want) {
		t.Errorf("read %q, %v", said, err)
	}
	if err := write(home, "/srv/boats", filepath.Join(home, "none.json")); err == nil {
		t.Error("a dialogue that is not there")
	}
}
