package embedded

import (
	"fmt"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// told writes a session that is told items, and its turn, and has it learned. It returns the session.
func (w *world) told(name, project string, turn correlation.Turn, items ...string) int64 {
	w.t.Helper()
	ctx := w.t.Context()
	session, err := correlationtest.Session(ctx, w.journal, correlation.OpenSession{Harness: "echo", ACPID: name,
		Cwd: project, Project: memory.Project(project)})
	if err != nil {
		w.t.Fatal(err)
	}
	w.inserted(name, items)
	turn.Session, turn.Started, turn.Ended, turn.Stop = session.ID, w.now, w.now, "end_turn"
	if err := correlationtest.Save(ctx, w.journal, []correlation.Turn{turn}); err != nil {
		w.t.Fatal(err)
	}
	if err := w.Learn(ctx); err != nil {
		w.t.Fatal(err)
	}
	return session.ID
}

// inserted writes that a session was told items.
func (w *world) inserted(session string, items []string) {
	w.t.Helper()
	if _, err := w.db.ExecContext(w.t.Context(), `INSERT INTO injections (session, key, kind, block_id, source, bytes,
		fetch_ms, held_ms, at, outcome, items, text) SELECT id, key, 'context', 'b', 'embedded', 1, 0, 0, 1, 'kept',
		?2, 'block' FROM sessions WHERE acp_id = ?1`, session, sqlite.List(items)); err != nil {
		w.t.Fatal(err)
	}
}

func TestUse(t *testing.T) {
	top := repository(t, "proxy/held.go", "proxy/claim.go")
	w := newWorld(t)
	add := func(m Memory) string {
		m, _, err := w.Add(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		return m.ID
	}
	note := add(Memory{Content: "The deadline stands in holdLimit of the Curlew."})
	birds := add(Memory{Content: "We saw the Curlew and the Robin near Ararat, 1240 of them."})
	rule := add(Memory{Content: "Always run make lint before you commit.", Type: "rule", Who: memory.Typed})
	const held, claim = "file:proxy/held.go", "file:proxy/claim.go"
	for name, tt := range map[string]struct {
		turn  correlation.Turn
		item  string
		state int
		none  bool
	}{
		"a file that is read":   {correlation.Turn{Tools: []correlation.ToolCall{toolCall("read", top+"/proxy/held.go")}}, held, correlation.Used, false},
		"another one":           {correlation.Turn{Tools: []correlation.ToolCall{toolCall("read", top+"/proxy/held.go")}}, claim, correlation.NotSeen, false},
		"rare words":            {correlation.Turn{User: "why?", Assistant: "Because holdLimit is short."}, note, correlation.Used, false},
		"in a command":          {correlation.Turn{User: "why?", Tools: []correlation.ToolCall{{ID: "x", Title: "grep holdLimit"}}}, note, correlation.Used, false},
		"that the user had":     {correlation.Turn{User: "what is holdLimit?", Assistant: "holdLimit is short."}, note, correlation.NotSeen, false},
		"common words":          {correlation.Turn{User: "why?", Assistant: "The deadline stands."}, note, correlation.NotSeen, false},
		"two names":             {correlation.Turn{User: "why?", Assistant: "The Curlew and Robin are birds."}, birds, correlation.NotSeen, false},
		"three":                 {correlation.Turn{User: "why?", Assistant: "The Curlew and Robin sit on Ararat."}, birds, correlation.Used, false},
		"a name and a number":   {correlation.Turn{User: "why?", Assistant: "The Curlew has 1240."}, birds, correlation.Used, false},
		"one name":              {correlation.Turn{User: "why?", Assistant: "The Curlew is a bird."}, note, correlation.NotSeen, false},
		"a rule that is kept":   {correlation.Turn{User: "go on", Assistant: "Done."}, rule, correlation.NotSeen, false},
		"a rule that is broken": {correlation.Turn{User: "Always run make lint before you commit."}, rule, correlation.SaidAgain, false},
		"the daemon's":          {correlation.Turn{User: "go on"}, "0d5ee1", 0, true},
	} {
		session := w.told(name, top, tt.turn, tt.item)
		uses, err := w.journal.Book().Uses(t.Context(), correlation.Scope{Sessions: []int64{session}})
		if err != nil {
			t.Fatal(err)
		}
		if tt.none != (len(uses) == 0) || !tt.none && (uses[0].Item != tt.item || uses[0].State != tt.state) {
			t.Errorf("%s: %+v", name, uses)
		}
	}
	again := w.told("more", top, correlation.Turn{User: "what?", Assistant: "holdLimit."}, note)
	if err := correlationtest.Save(t.Context(), w.journal, []correlation.Turn{{Session: again, User: "and?",
		Assistant: "Nothing.", Started: w.now, Ended: w.now, Stop: "end_turn"}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	records, err := correlation.Records(t.Context(), w.db, "", []string{note, rule})
	if err != nil || records[note] != (correlation.Record{Told: 6, Used: 3}) ||
		records[rule] != (correlation.Record{Told: 2, Again: 1}) {
		t.Errorf("%+v, %v", records, err)
	}
	for r, want := range map[correlation.Record]string{
		{}: "", {Told: 1}: "recalled once, no use seen", {Told: 6, Used: 2}: "recalled 6 times, used 2 times",
		{Told: 2, Again: 1}: "recalled 2 times, repeated once",
	} {
		if got := r.InWords(); got != want {
			t.Errorf("%+v: %s", r, got)
		}
	}
}

// What was told often and never used gives way to what else fits, and a rule that was repeated is always told.
func TestWorth(t *testing.T) {
	for _, c := range []struct {
		r    correlation.Record
		want float64
	}{{correlation.Record{Told: 4}, 1}, {correlation.Record{Told: 5}, unused}, {correlation.Record{Told: 9, Used: 1}, useful}} {
		if got := worth(c.r); got != c.want {
			t.Errorf("%+v: %v", c.r, got)
		}
	}
	top := repository(t, "kiln.go", "glaze.go")
	w := newWorld(t)
	w.worked(top, "one", "Fire the kiln at cone six.", toolCall("edit", top+"/kiln.go", top+"/glaze.go"))
	first := func() string {
		got, err := w.Recall(t.Context(), memory.Session{Key: "new", Cwd: top, Project: top}, "fire the kiln at cone six", nil)
		if err != nil || len(got.Where) == 0 {
			t.Fatalf("%+v, %v", got, err)
		}
		return got.Where[0].Paths[0]
	}
	before := first()
	for i := range enoughTold {
		w.told(string(rune('a'+i)), top, correlation.Turn{User: "bake a cake"}, memory.FileItem(before))
	}
	if after := first(); after == before {
		t.Errorf("%s is told first, though it was never used", after)
	}
	rule, _, err := w.Add(t.Context(), Memory{Content: "Always write rhubarb with an h.", Type: "rule", Who: memory.Typed,
		Project: top})
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxProfile { // newer ones, which are told in its place
		w.now = w.now.Add(time.Minute)
		if _, _, err := w.Add(t.Context(), Memory{Content: fmt.Sprint("Never paint boat ", i, " in color ", 10+i, "."),
			Type: "rule", Who: memory.Typed, Project: top}); err != nil {
			t.Fatal(err)
		}
	}
	tells := func() bool {
		got, err := w.Recall(t.Context(), memory.Session{Key: "new", Cwd: top, Project: top}, "fire the kiln at cone six", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range got.Profile {
			if it.ID == rule.ID || it.Text == rule.Content {
				return true
			}
		}
		return false
	}
	if tells() {
		t.Fatal("the rule is told though nothing asks for it")
	}
	w.told("again", top, correlation.Turn{User: "Always write rhubarb with an h."}, rule.ID)
	if !tells() {
		t.Error("the rule is not told though it had to be repeated")
	}
}
