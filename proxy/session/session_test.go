package session

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

func newTestConnection(o Options) *Connection {
	if o.Now == nil {
		o.Now = time.Now
	}
	return NewTable(o, nil).c
}

// Commands that the harness names may hold a slash, and may be named with the sign in front of them.
func TestSlashCommand(t *testing.T) {
	c := newTestConnection(Options{Commands: []string{"/", "$"}})
	s := &Session{commands: map[string]bool{"review/all": true, "/compact": true, "$skill": true}}
	for text, want := range map[string]string{
		"/help":                     "help",
		"/help me":                  "help",
		" \t\n/help":                "help",
		"\u00a0\ufeff/help":         "help",
		"/review/all of it":         "review/all",
		"/home/x is broken":         "",
		"/compact":                  "compact",
		"/compact\nkeep the plan":   "compact",
		"/":                         "",
		"/ help":                    "",
		"help /me":                  "",
		"":                          "",
		"//":                        "",
		"/tmp is full":              "tmp", // it waits a turn
		"$skill do":                 "skill",
		"look at $skill":            "",
		strings.Repeat(" ", 100000): "",
	} {
		if got := c.SlashCommand(s, text); got != want {
			t.Errorf("%.40q is %q, want %q", text, got, want)
		}
	}
}

// A session's blocks are those that its harness has seen: what it continues was another's, and a fork has what its
// parent had then.
func TestBlocksOfAncestors(t *testing.T) {
	then := time.Now()
	known := correlation.Session{ID: 3, Started: then}
	in := func(session int64, text string, outcome correlation.Outcome, after time.Duration) correlation.Injection {
		return correlation.Injection{Session: session, Text: text, Outcome: outcome, At: then.Add(after),
			Items: []string{text}}
	}
	ledger := []correlation.Injection{ // newest first
		in(1, "later", "kept", time.Minute), in(3, "own", "kept", time.Second),
		in(3, "own", correlation.WasRefused, time.Second),
		in(3, "no", correlation.WasRefused, time.Second), in(1, "parent's", "kept", -time.Minute),
	}
	for _, tt := range []struct {
		fork         int64
		blocks, seen []string
	}{
		{0, []string{"no", "own"}, []string{"own"}},
		{1, []string{"parent's", "no", "own"}, []string{"parent's", "own"}},
	} {
		s := &Session{}
		known.ForkOf = tt.fork
		s.loadInjections(ledger, known)
		if !slices.Equal(s.Blocks(), tt.blocks) || !slices.Equal(s.seenItems, tt.seen) {
			t.Errorf("fork of %d: %q, %q", tt.fork, s.Blocks(), s.seenItems)
		}
	}
}
