package doctor

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A file that is too large for the time is not said to be damaged; one whose index lacks a row is.
func TestCheckFile(t *testing.T) {
	db, _, remove := correlationtest.Open()
	defer remove()
	if err := checkFile(t.Context(), db, time.Minute); err != nil {
		t.Errorf("a whole file: %v", err)
	}
	if err := checkFile(t.Context(), db, 0); !errors.Is(err, errNotChecked) {
		t.Errorf("without any time: %v, want %v", err, errNotChecked)
	}
	if _, err := db.Exec(`
		CREATE TEMP TABLE hidden AS SELECT * FROM sqlite_schema WHERE name = 'sessions_key';
		PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'sessions_key'; PRAGMA writable_schema = RESET;
		INSERT INTO sessions (harness, acp_id, key, state, started, last_active) VALUES ('h', 'a', 'k', 'new', 1, 1);
		PRAGMA writable_schema = ON; INSERT INTO sqlite_schema SELECT * FROM hidden; PRAGMA writable_schema = RESET`); err != nil {
		t.Fatal(err)
	}
	if err := checkFile(t.Context(), db, time.Minute); !errors.Is(err, sqlite.ErrCorrupt) {
		t.Errorf("an index without the row: %v", err)
	}
}

// What is owed is told by what a person can do about it.
func TestDebts(t *testing.T) {
	soon, past := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	name := func(row int64) string {
		if row == 9 {
			return "" // gone
		}
		return fmt.Sprint("sess-", row)
	}
	for _, tt := range []struct {
		name string
		owed []correlation.Debt
		want string
	}{
		{"nothing", nil, "ok nothing pending"},
		{"waits on purpose", []correlation.Debt{{Due: soon}, {Due: soon}},
			"ok 2 deliveries waiting for enough text to summarise"},
		{"failed before and is due later", []correlation.Debt{{Due: soon, Error: "refused"}, {Due: past, Error: "gone"}},
			"note 2 deliveries pending, the oldest since ; last error: gone → signet-acp-proxy deliver --wait"},
		{"two addresses", []correlation.Debt{{Due: past, URL: "http://a:1"}, {Due: past, URL: "http://b:2"},
			{Due: past, URL: "http://a:1"}}, "note 3 deliveries pending, the oldest since : 2 for http://a:1, 1 for " +
			"http://b:2 → signet-acp-proxy deliver --to-configured, if that daemon is elsewhere now"},
		{"the configured address", []correlation.Debt{{Due: past, URL: "http://a:1"}}, "note 1 delivery pending, the " +
			"oldest since : 1 for http://a:1 → signet-acp-proxy deliver --wait"},
		{"given up elsewhere", []correlation.Debt{{Done: past, State: correlation.Dead, URL: "http://b:2"}},
			"problem 1 delivery given up after 14 days → signet-acp-proxy deliver --to-configured, if that daemon is " +
				"elsewhere now"},
		{"a tool's", []correlation.Debt{{Due: past, Kind: correlation.KindMemory}},
			"note 1 delivery pending, the oldest since  → signet-acp-proxy deliver --wait; " +
				"note 1 memory among these, stored by tools while the daemon did not answer"},
		{"given up", []correlation.Debt{{Done: past, State: correlation.Dead, Session: 1}, {Done: past, State: correlation.Dead,
			Session: 2}}, "problem 2 deliveries given up after 14 days → signet-acp-proxy show sess-1 says why; " +
			"the conversations are still here"},
		{"no answer", []correlation.Debt{{Done: past, State: correlation.Unknown, Session: 9}, {Done: past,
			State: correlation.Unknown, Session: 2}}, "note 2 deliveries without an answer from the daemon → signet-acp-proxy show " +
			"SESSION has the details"},
	} {
		if got := words(deliveries(tt.owed, "http://a:1", name)); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
	got := words(deliveries([]correlation.Debt{{Due: past, Owed: past}, {Due: past, Owed: past.Add(-time.Hour)},
		{Due: past, Owed: soon}}, "", name))
	if want := "3 deliveries pending, the oldest since " + term.Local(past.Add(-time.Hour)); !strings.Contains(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// words are findings on one line: status, text and fix.
func words(all []finding) string {
	var lines []string
	for _, one := range all {
		line := one.Status + " " + one.Text
		if one.Fix != "" {
			line += " → " + one.Fix
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}
