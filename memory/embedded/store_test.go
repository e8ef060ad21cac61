package embedded

import (
	"context"
	"database/sql"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// world is a database with the journal that turns are written by.
type world struct {
	*Store
	t       testing.TB
	db      *sql.DB
	path    string
	journal *correlation.Store
	now     time.Time

	sessions map[string][]string // the names of those that were held, by project
	answers  map[string][]string // notes that answer a question, by its id
}

func newWorld(t testing.TB) *world {
	t.Helper()
	path := filepath.Join(t.TempDir(), "acp", "sessions.db")
	db, err := migrations.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	w := &world{t: t, db: db, path: path, now: time.Date(2026, 10, 3, 12, 0, 0, 0, time.UTC), sessions: map[string][]string{},
		answers: map[string][]string{}}
	clock := func() time.Time { return w.now }
	w.Store = New(db, Options{Now: clock})
	w.journal = correlation.New(db, correlation.Options{Now: clock})
	return w
}

// said writes a session of turns (user, assistant, user, …) in a project and has it learned. It returns the session's
// key.
func (w *world) said(project, name string, texts ...string) string {
	w.t.Helper()
	ctx := context.Background()
	session, err := correlationtest.Session(ctx, w.journal, correlation.OpenSession{Harness: "echo", ACPID: name,
		Cwd: project, Project: project})
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(texts); i += 2 {
		turn := correlation.Turn{Session: session.ID, User: texts[i], Assistant: texts[i+1], Started: w.now,
			Ended: w.now, Stop: "end_turn"}
		if err := correlationtest.Save(ctx, w.journal, []correlation.Turn{turn}); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := w.Learn(ctx); err != nil {
		w.t.Fatal(err)
	}
	return session.Key
}

func (w *world) recall(session memory.Session, prompt string) string {
	w.t.Helper()
	c, err := w.Recall(w.t.Context(), session, prompt, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	var b strings.Builder
	for _, it := range slices.Concat(c.Profile, c.Items) {
		b.WriteString(it.Text + "\n")
	}
	return b.String()
}

func TestRecallAcrossSessions(t *testing.T) {
	w := newWorld(t)
	key := w.said("/p/shop", "first", "Remember that the staging database is called heron.",
		"Noted: the staging database is called heron.")
	if got := w.recall(memory.Session{Key: "other", Project: "/p/shop"},
		"What is the staging database called?"); !strings.Contains(got, "heron") {
		t.Errorf("recalled %q, want heron", got)
	}
	if got := w.recall(memory.Session{Key: key, Project: "/p/shop"},
		"What is the staging database called?"); got != "" {
		t.Errorf("a session was told its own turn: %q", got)
	}
	if got := w.recall(memory.Session{Key: "other", Project: "/p/blog"},
		"What is the staging database called?"); got != "" {
		t.Errorf("another project was told %q", got)
	}
	if got := w.recall(memory.Session{Key: "other", Project: "/p/shop"},
		"How do I bake bread with sourdough?"); got != "Remember that the staging database is called heron.\n" {
		t.Errorf("nothing is known of bread, recalled %q", got)
	}
}

// Whatever statement fails, whoever asked is told, and nothing is changed by halves.
func TestStatementsFail(t *testing.T) {
	w := newWorld(t)
	top := repository(t, "a.go")
	w.said("/p/shop", "first", "Remember that the staging database is called heron.", "Noted: it is called heron.",
		"I prefer short answers.", "Fine.", "I prefer short answers!", "Fine.")
	w.worked(top, "second", "Mend the deadline of the Curlew in a.go.", toolCall("edit", filepath.Join(top, "a.go")))
	m := w.add(Memory{Content: "The deadline stands in holdLimit of the Curlew.", Project: "/p/shop"})
	w.told("third", "/p/shop", correlation.Turn{User: "Where is the deadline?", Assistant: "In holdLimit of the Curlew."}, m.ID)
	w.said("/p/shop", "fourth", "Which sails do we have?", "A mainsail and a jib.")
	w.noted("fourth", Note{Text: "The boat has a mainsail and a jib.", Question: "Which sails are there?", Kind: "fact"})
	session, err := correlationtest.Session(t.Context(), w.journal, correlation.OpenSession{Harness: "echo", ACPID: "fifth",
		Cwd: "/p/shop", Project: "/p/shop"})
	if err == nil { // which is not learned yet
		err = correlationtest.Save(t.Context(), w.journal, []correlation.Turn{{Session: session.ID, Started: w.now, Ended: w.now,
			User: "Remember that the mast is 11 metres long, and where a.go is.", Assistant: "Yes.", Stop: "end_turn"}})
	}
	if err != nil {
		t.Fatal(err)
	}
	lines, err := w.Profile(t.Context(), Filter{Project: "/p/shop"})
	if err != nil || len(lines) == 0 || len(lines[0].Sayings) < 2 {
		t.Fatalf("no line that was said twice: %+v, %v", lines, err)
	}
	for _, text := range []string{m.ID, lines[0].ID, "Where is the deadline of the Curlew?"} {
		correlationtest.Walk{Opened: w.db, Path: w.path, Skip: []string{"Unlearn", "Note", "Import"},
			InSteps: []string{"Forget", "Learn", "RemoveAll"}, Quiet: []string{"Recall", "Start"},
			Values: []any{t.Context(), text, []string{text}, []int64{1, 2, 3, 4}, int64(1), 5, true, []Memory{m},
				Memory{Content: "The slipway is closed in November."}, map[string]float64{m.ID: 0.5}, io.Discard,
				memory.Session{Key: "k", Cwd: "/p/shop", Project: "/p/shop"}, Query{Text: text}, Filter{Project: "/p/shop"},
				Change{Content: &text}, w.now},
		}.Every(t, func(db *sql.DB, _ string) any { return New(db, Options{Now: func() time.Time { return w.now }}) })
	}
}
