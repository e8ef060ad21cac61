package eventlog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	. "github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// What a person has forgotten is in no file any more, folded in or not, of the living and of the dead, and does not
// come back; the rest is as it was.
func TestErase(t *testing.T) {
	b := newBench(t)
	const canary = "CANARY-Xy99Zq"
	say := func(l *Log, acpID string) (session, turn int) {
		session, turn = number(), number()
		l.Append(
			correlation.Opened{Session: session, Open: correlation.OpenSession{Harness: "claude", ACPID: acpID, New: true,
				Cwd: "/" + canary}},
			correlation.TurnBegan{Session: session, Turn: turn}, correlation.UserSaid{Turn: turn, Text: canary}, correlation.AssistantSaid{Turn: turn, Text: "so: " +
				canary},
			correlation.ToolUsed{Turn: turn, Tool: correlation.ToolCall{ID: "1", Title: canary}},
			correlation.Injected{Session: session, Turn: turn, Injection: correlation.Injection{Kind: "system", BlockID: "b",
				Text: canary}},
			correlation.ContextStored{Session: session, Key: "k", Context: []byte(`"` + canary + `"`)}, correlation.Summarised{Session: session,
				Text: canary},
			correlation.TurnEnded{Turn: turn, Stop: "end_turn"})
		check(t, l.Flush(t.Context()))
		return session, turn
	}
	attached, waiting := b.log(true), b.log(false)
	session, turn := say(attached, "said")
	must(attached.Row(t.Context(), session))(t)
	check(t, attached.Folded(t.Context()))
	say(waiting, "waiting")
	conversation(attached, "kept")
	check(t, attached.Folded(t.Context()))

	check(t, TakeIn(t.Context(), b.store, zerolog.Nop()))
	for _, acpID := range []string{"said", "waiting"} {
		v := must(b.store.Find(t.Context(), "claude", acpID))(t)
		must(b.store.Forget(t.Context(), v.ID, nil))(t)
		for _, l := range []*Log{attached, waiting} { // it comes between
			l.Append(correlation.AssistantSaid{Turn: turn, Text: canary + " again"})
			check(t, l.Flush(t.Context()))
		}
	}
	check(t, TakeIn(t.Context(), b.store, zerolog.Nop()))
	for _, path := range append(must(filepath.Glob(filepath.Join(b.dir, "*.events")))(t), b.path) {
		text := string(must(os.ReadFile(path))(t))
		if strings.Contains(text, canary) {
			t.Errorf("%s still has it", filepath.Base(path))
		}
	}
	check(t, attached.Folded(t.Context()))
	b.found("kept")
	waiting.Attach(b.store)
	for _, l := range []*Log{attached, waiting} {
		if left := must(l.Close(t.Context()))(t); left {
			t.Error("something is left")
		}
	}
	b.found("kept")
	for _, table := range []string{"turns", "events", "usage", "injections", "debts"} {
		if n := b.count("SELECT count(*) FROM " + table +
			" WHERE session NOT IN (SELECT id FROM sessions WHERE acp_id = 'kept')"); n != 0 {
			t.Errorf("%d rows are in %s", n, table)
		}
	}
}

// What the database has goes from a file of a living process, and what is not there yet comes there still.
func TestErasedInAFile(t *testing.T) {
	b := newBench(t)
	l := b.log(false)
	session, turns := conversation(l, "s")
	check(t, l.Flush(t.Context()))
	check(t, TakeIn(t.Context(), b.store, zerolog.Nop()))
	path := filepath.Join(b.dir, b.files()[0])
	if _, rest, _ := strings.Cut(string(must(os.ReadFile(path))(t)), "\n"); strings.TrimSpace(rest) != "" {
		t.Errorf("the file says %s", rest)
	}
	l.Append(correlation.RecordKnown{Session: session, Record: "r"}, correlation.TurnEnded{Turn: turns[0], Stop: "late"})
	l.Attach(b.store)
	must(l.Close(t.Context()))(t)
	v := must(b.store.Find(t.Context(), "claude", "s"))(t)
	if all := must(b.store.Book().Turns(t.Context(), v.ID))(t); len(all) != 2 || all[1].Assistant != "answer two" ||
		v.Record != "r" {
		t.Errorf("turns are %+v, record %q", all, v.Record)
	}
}

// What happened and what was used goes with the turns.
func TestTelemetry(t *testing.T) {
	b := newBench(t)
	l := b.log(true)
	conversation(l, "s")
	l.Append(correlation.ProcessEnded{Reason: "eof"})
	must(l.Close(t.Context()))(t)
	b.found("s")
	_, err := b.db.ExecContext(t.Context(), "DELETE FROM debts")
	check(t, err)
	if n := must(b.store.Expire(t.Context(), time.Now().Add(time.Hour), nil))(t); n != 2 {
		t.Errorf("%d turns went", n)
	}
	if n := b.count("SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM usage)"); n != 0 {
		t.Errorf("%d rows stay", n)
	}
}

// What was erased is no line, however much it was, and says of nothing that it cannot be saved.
func TestErasedAtOnce(t *testing.T) {
	b := newBench(t)
	l := b.log(false)
	session, _ := conversation(l, "s")
	turn := number()
	l.Append(correlation.TurnBegan{Session: session, Turn: turn})
	for range 16 { // twice what a line may have
		l.Append(correlation.AssistantSaid{Turn: turn, Text: strings.Repeat("x", 256<<10)})
		check(t, l.Flush(t.Context()))
	}
	for range 2 { // by another process, so that this one goes on with the file
		check(t, Sweep{Store: b.store, Living: true}.Run(t.Context()))
		l.Append(correlation.AssistantSaid{Turn: turn, Text: "more"})
		check(t, l.Flush(t.Context()))
	}
	must(l.Close(t.Context()))(t)
	if r := must(b.store.Book().Refused(t.Context()))(t); r.Lines != 0 {
		t.Errorf("kept aside: %+v", r)
	}
}
