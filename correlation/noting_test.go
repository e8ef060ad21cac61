package correlation_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// worked saves turns of a session, some with a tool call, with an answer of so many characters.
func (b *bench) worked(session int64, process string, turns, tools, characters int) {
	b.tb.Helper()
	for i := range turns {
		t := Turn{Session: session, Process: process, User: "?", Assistant: strings.Repeat("a", max(characters-1, 0)),
			Started: b.clock.Now(), Ended: b.clock.Now(), Stop: "end_turn"}
		if i < tools {
			t.Tools = []ToolCall{{Title: "edit"}}
		}
		check(b.tb, correlationtest.Save(b.tb.Context(), b.Store, []Turn{t}))
	}
}

func (b *bench) toNote() []string {
	b.tb.Helper()
	var names []string
	for _, id := range must(b.ToNote(b.tb.Context(), 10))(b.tb) {
		names = append(names, must(b.Get(b.tb.Context(), id))(b.tb).ACPID)
	}
	slices.Sort(names)
	return names
}

// failed has the noting of a session fail; noted has it succeed.
func (b *bench) noted(session int64, failed string) {
	b.tb.Helper()
	turns := must(b.ToldOf(b.tb.Context(), session))(b.tb)
	n := must(b.BeginNoting(b.tb.Context(), session, turns[len(turns)-1].Turn))(b.tb)
	n.Ended, n.Error = b.clock.Now(), failed
	check(b.tb, b.EndNoting(b.tb.Context(), n))
}

// Who is worth asking, and when.
func TestToNote(t *testing.T) {
	b := newBench(t)
	open := func(name, process string, with OpenSession) int64 {
		with.ACPID, with.Process = name, process
		if with.Project == "" {
			with.Project = "/p"
		}
		return b.open(with).ID
	}
	live := b.register(ProcessInfo{})
	for _, one := range []struct {
		name                     string
		turns, tools, characters int
		with                     OpenSession
	}{
		{"two turns of work", 2, 2, 0, OpenSession{}},
		{"one turn of work", 2, 1, 0, OpenSession{}},
		{"talk", 1, 0, 1500, OpenSession{}},
		{"less talk", 1, 0, 1499, OpenSession{}},
		{"a child", 2, 2, 0, OpenSession{ParentKey: "k"}},
		{"import", 2, 2, 0, OpenSession{Client: "backfill:claude"}},
	} {
		b.worked(open(one.name, "", one.with), "", one.turns, one.tools, one.characters)
	}
	none := open("no project", "", OpenSession{})
	_, err := b.db.Exec(`UPDATE sessions SET project = '' WHERE id = ?`, none)
	check(t, err)
	b.worked(none, "", 2, 2, 0)
	b.worked(open("goes on", live.ID(), OpenSession{}), live.ID(), 2, 2, 0)
	look := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, b.toNote()); diff != "" {
			t.Error(diff)
		}
	}
	look("talk", "two turns of work")
	b.clock.Advance(20*time.Minute + time.Millisecond)
	look("goes on", "talk", "two turns of work")
	if all := must(b.Book().NotNoted(t.Context(), 10))(t); len(all) != 4 { // and the import
		t.Errorf("%d sessions have no notes", len(all))
	}
	id := func(name string) int64 { return must(b.Find(t.Context(), "claude", name))(t).ID }
	b.noted(id("talk"), "")
	b.noted(id("two turns of work"), "no answer")
	look("goes on")
	b.clock.Advance(23 * time.Hour)
	look("goes on") // not again yet
	b.clock.Advance(time.Hour)
	look("two turns of work") // a day later, and for the other it is too late
	b.noted(id("two turns of work"), "no answer")
	b.clock.Advance(25 * time.Hour)
	look()
	b.worked(id("talk"), "", 2, 1, 0)
	look()
	b.worked(id("talk"), "", 1, 1, 0) // since it was noted
	look("talk")
	if turns := must(b.ToldOf(t.Context(), id("talk")))(t); len(turns) != 3 || turns[0].N != 2 {
		t.Errorf("it is asked about %d turns, the first is number %d", len(turns), turns[0].N)
	}
	if turns := must(b.ToldOf(t.Context(), id("two turns of work")))(t); len(turns) != 2 {
		t.Errorf("a person asks again: %d turns", len(turns))
	}
}

// A noting whose process was killed has failed; what was noted is owed in the transaction that says so.
func TestNoting(t *testing.T) {
	b := newBench(t)
	s := b.open(OpenSession{ACPID: "A", Project: "/p"})
	b.worked(s.ID, "", 2, 2, 0)
	must(b.BeginNoting(t.Context(), s.ID, 1))(t)
	b.clock.Advance(time.Second)
	n := must(b.BeginNoting(t.Context(), s.ID, 2))(t)
	tokens := int64(7)
	n.Ended, n.Notes, n.Tokens = b.clock.Now(), 1, &tokens
	end := func() error {
		return sqlite.Write(context.Background(), b.db, "", func(tx *sql.Tx) error {
			return EndNoting(t.Context(), tx, n, []Debt{{Kind: KindHook, HookCommand: []string{"x"}, Payload: "[]"},
				{Kind: KindMemory, URL: "u", Payload: "{}"}})
		})
	}
	check(t, end())
	if err := end(); !errors.Is(err, ErrNotFound) {
		t.Errorf("it ends twice: %v", err)
	}
	var got []string
	for _, n := range must(b.Book().Notings(t.Context(), Scope{Sessions: []int64{s.ID}}))(t) {
		got = append(got, fmt.Sprint(n.Turn, n.Ended.Sub(n.Began), n.Notes, n.Error, n.Tokens != nil))
	}
	if diff := cmp.Diff([]string{"1 0s 0the process that asked was killedfalse", "2 0s 1true"}, got); diff != "" {
		t.Error(diff)
	}
	if since := must(b.Book().Notings(t.Context(), Scope{Since: n.Began}))(t); len(since) != 1 {
		t.Errorf("%d notings since the second", len(since))
	}
	debts := must(b.Book().DebtsOf(t.Context(), s.ID))(t)
	if len(debts) != 2 || debts[0].Kind != KindHook || debts[0].HookCommand[0] != "x" || debts[1].URL != "u" ||
		debts[1].Key != s.Key || debts[1].Payload != "{}" {
		t.Errorf("owed are %+v", debts)
	}
}
