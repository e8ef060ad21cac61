package correlation_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// take takes in a conversation, some turns at a time.
func (b *bench) take(o OpenSession, turns []Turn) (v Session, added int, err error) {
	o.Began = turns[0].Started
	i, err := b.Import(b.ctx(), o)
	if err != nil {
		return v, 0, err
	}
	to := Importer{Store: b.Store, Process: "importer", Now: b.clock.Now}
	for len(turns) > 0 {
		some := turns[:min(2, len(turns))]
		fresh, _, err := i.NewTurns(b.ctx(), some)
		var told []TurnTold
		for _, n := range fresh {
			told = append(told, TurnTold{Whole: some[n]})
		}
		if err == nil {
			err = to.Add(b.ctx(), i, told)
		}
		if err == nil {
			err = to.Flush(b.ctx())
		}
		if err != nil {
			return v, added, err
		}
		added, turns = added+len(told), turns[len(some):]
	}
	v = i.Session
	if added > 0 {
		v, err = b.Find(b.ctx(), o.Harness, o.ACPID)
	}
	return v, added, err
}

// What is imported stands there once, in order, as old as it is, and is not brought back once it was forgotten.
func TestImport(t *testing.T) {
	b := newBench(t)
	then := b.clock.Now().Add(-24 * time.Hour)
	said := func(words ...string) (turns []Turn) {
		for i, user := range words {
			at := then.Add(time.Duration(i) * time.Minute)
			turns = append(turns, Turn{User: user, Assistant: "ok", Started: at, Ended: at, Stop: "end_turn"})
		}
		return turns
	}
	o := OpenSession{Harness: "claude", ACPID: "0b1c7a4e-9f22-4f2e-8f4e-4a2f5d1c9b10", Client: "backfill:claude"}
	v, added, err := b.take(o, said("one", "continue", "continue"))
	if err != nil || added != 3 {
		t.Fatalf("%d, %v", added, err)
	}
	again := func(want int, words ...string) {
		t.Helper()
		if _, added, err := b.take(o, said(words...)); err != nil || added != want {
			t.Errorf("%v: %d new, %v", words, added, err)
		}
	}
	again(0, "one", "continue", "continue")
	again(0, "one ", "continue", "\ncontinue")
	again(2, "one", "continue", "continue", "continue", "the end") // the file has grown
	grown := said("one", "continue", "continue", "continue", "the end")
	grown[4].Assistant += " and done"
	grown[4].Tools = []ToolCall{{Title: "ls"}}
	for _, want := range []int{1, 0} { // its last turn was read while it went on
		if _, added, err := b.take(o, grown); err != nil || added != want {
			t.Errorf("the rest of an answer: %d new, %v; want %d", added, err, want)
		}
	}
	grown[0].Assistant = "ok and done, and more" // as the last one's goes on, and of another prompt
	if _, added, err := b.take(o, grown[:1]); err != nil || added != 0 {
		t.Errorf("an earlier turn is taken for the last one: %d, %v", added, err)
	}
	if last := must(b.Book().Turns(t.Context(), v.ID))(t)[4]; last.Assistant != "ok and done" || len(last.Tools) != 1 {
		t.Errorf("the rest of an answer: %+v", last)
	}
	if got := must(b.Get(t.Context(), v.ID))(t); !got.Started.Equal(then.Truncate(time.Millisecond)) ||
		got.Client != "backfill:claude" {
		t.Errorf("the session: %+v", got)
	}
	turns := must(b.Book().Turns(t.Context(), v.ID))(t)
	if len(turns) != 5 || turns[0].User != "one" || turns[4].User != "the end" {
		t.Errorf("%d turns", len(turns))
	}
	if ids := must(b.Book().Imported(t.Context(), "backfill:claude"))(t); len(ids) != 1 || ids[0] != v.ID {
		t.Errorf("imported: %v", ids)
	}

	if _, err := b.Forget(t.Context(), v.ID, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.take(o, said("one")); !errors.Is(err, ErrForgotten) {
		t.Errorf("what was forgotten comes back: %v", err)
	}
}

// A conversation that was seen on the wire gets what it lacks, under the name that the harness has there.
func TestImportOfKnown(t *testing.T) {
	b := newBench(t)
	v := b.open(OpenSession{Harness: "@agentclientprotocol/claude-agent-acp",
		ACPID: "0b1c7a4e-9f22-4f2e-8f4e-4a2f5d1c9b10", Client: "acpx"})
	b.turn(v.ID, "p", "on the wire", "ok")
	got, added, err := b.take(OpenSession{Harness: "claude", ACPID: v.ACPID, Client: "backfill:claude"},
		[]Turn{{User: "before the wire", Ended: b.clock.Now()}, {User: "on the wire", Ended: b.clock.Now()}})
	if err != nil || got.ID != v.ID || added != 1 {
		t.Errorf("session %d, %d new, %v", got.ID, added, err)
	}
	if now := must(b.Get(t.Context(), v.ID))(t); now.Client != "acpx" {
		t.Errorf("it is %s's now", now.Client)
	}
}

// Of what was forgotten nothing comes back with a copy of it, under whatever id that stands; nothing else is missed.
func TestImportOfForgotten(t *testing.T) {
	b := newBench(t)
	said := func(user, assistant string) Turn {
		return Turn{User: user, Assistant: assistant, Started: b.clock.Now(), Ended: b.clock.Now(), Stop: "end_turn"}
	}
	const first, branch, other = "0b1c7a4e-9f22-4f2e-8f4e-000000000001", "0b1c7a4e-9f22-4f2e-8f4e-000000000002",
		"0b1c7a4e-9f22-4f2e-8f4e-000000000003"
	of := func(id string) OpenSession {
		return OpenSession{Harness: "claude", ACPID: id, Client: "backfill:claude"}
	}
	long := "Herons nest in colonies, often with other waders,\n\nhigh up in the same trees year after year."
	v, _, err := b.take(of(first), []Turn{said("Where do herons nest?", long), said("continue", "Done.")})
	if err != nil {
		t.Fatal(err)
	}
	must(b.Forget(t.Context(), v.ID, nil))(t)

	copies := []Turn{said("Where do  herons nest?", strings.TrimSuffix(long, " after year.")),
		said("continue", "Done.")}
	if v, added, err := b.take(of(branch), copies); err != nil || added != 0 || v.ID != 0 {
		t.Errorf("a copy: session %d, %d new, %v", v.ID, added, err)
	}
	v, added, err := b.take(of(branch), append(copies, said("And egrets?", "Likewise.")))
	if err != nil || added != 1 {
		t.Errorf("a copy that went on: %d new, %v", added, err)
	}
	if _, added, err := b.take(of(other), []Turn{said("continue", "With what?")}); err != nil || added != 1 {
		t.Errorf("the same prompt elsewhere: %d new, %v", added, err)
	}

	turns := must(b.Book().Turns(t.Context(), v.ID))(t)
	err = sqlite.Write(t.Context(), b.db, "rewording", func(tx *sql.Tx) error {
		return Reword(t.Context(), tx, Said{Turn: turns[0].ID, User: "[forgotten]", Assistant: "[forgotten]"})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, answer := range []string{"Likewise.", "Likewise. And more than that."} {
		if _, added, err := b.take(of(branch), []Turn{said("And egrets?", answer)}); err != nil || added != 0 {
			t.Errorf("a prompt of which something was forgotten: %d new, %v", added, err)
		}
	}
}

// What was imported is kept from the day on which it came in, however long ago it was said.
func TestImportIsKept(t *testing.T) {
	b := newBench(t)
	then := b.clock.Now().Add(-1000 * time.Hour)
	turns := []Turn{{User: "hello", Assistant: "hi", Started: then, Ended: then, Stop: "end_turn"}}
	if _, added, err := b.take(OpenSession{Harness: "claude", ACPID: "s-1"}, turns); err != nil || added != 1 {
		t.Fatalf("%d, %v", added, err)
	}
	if n := must(b.Expire(t.Context(), b.clock.Now(), nil))(t); n != 0 {
		t.Errorf("%d turns went on the day on which they came in", n)
	}
	b.clock.Advance(time.Hour)
	if n := must(b.Expire(t.Context(), b.clock.Now(), nil))(t); n != 1 {
		t.Errorf("%d turns went later, want 1", n)
	}
}
