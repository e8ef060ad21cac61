package delegation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// A message reaches the agent that it is for, by any of its names, in its project, and until a session was told.
func TestMail(t *testing.T) {
	l := newLedger(t)
	send := func(to, project, text string) Message {
		t.Helper()
		m, err := l.Send(t.Context(), Message{To: to, From: "claude", Project: project, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	inbox := func(want ...string) []Message {
		t.Helper()
		all, err := l.Inbox(t.Context(), []string{"codex", "codex-acp"}, "/src/heron")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range all {
			got = append(got, m.Text)
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("inbox %q, want %q", got, want)
		}
		return all
	}
	one := send("codex", "/src/heron", "The mast is 11.42 metres.")
	send("codex", "/src/egret", "Elsewhere.")
	send("gemini", "/src/heron", "For another.")
	send("codex", "/src/heron", "password=hunter2hunter2 <private>p</private> stays")
	all := inbox("The mast is 11.42 metres.", "password=[redacted:password]  stays")
	if item := all[0].Item(); item.ID != "message:"+one.ID || item.Origin != "agent claude" ||
		!strings.HasPrefix(item.Text, "Message from agent claude: ") {
		t.Errorf("%+v", item)
	}
	store := correlation.New(l.db, correlation.Options{LiveDir: l.live})
	s, err := store.Open(t.Context(), correlation.OpenSession{Harness: "codex", ACPID: "x", New: true})
	if err != nil {
		t.Fatal(err)
	}
	injected := func(outcome string) {
		t.Helper()
		if _, err := l.db.Exec(`INSERT INTO injections (session, key, kind, block_id, source, bytes, fetch_ms, held_ms, at,
			outcome, items, text) VALUES (?, 'k', 'first', 'b', 's', 1, 1, 1, 9e12, ?, ?, '')`, s.ID, outcome,
			`["m1","message:`+one.ID+`"]`); err != nil {
			t.Fatal(err)
		}
	}
	injected("refused")
	inbox("The mast is 11.42 metres.", "password=[redacted:password]  stays")
	injected("kept")
	left := inbox("password=[redacted:password]  stays")
	if err := l.read(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	inbox()
	for i := range mostUnread {
		send("codex", "/src/heron", fmt.Sprint("number ", i))
	}
	for text, want := range map[string]string{"one more": "has not read", " ": "nothing is left to send",
		strings.Repeat("x ", mostMessage): "send what matters"} {
		if _, err := l.Send(t.Context(), Message{To: "codex", Project: "/src/heron", Text: text}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
