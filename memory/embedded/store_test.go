package embedded

import (
	"context"
	"database/sql"
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
	journal *correlation.Store
	now     time.Time

	sessions map[string][]string // the names of those that were held, by project
	answers  map[string][]string // notes that answer a question, by its id
}

func newWorld(t testing.TB) *world {
	t.Helper()
	db, err := migrations.Open(t.Context(), filepath.Join(t.TempDir(), "acp", "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	w := &world{t: t, db: db, now: time.Date(2026, 10, 3, 12, 0, 0, 0, time.UTC), sessions: map[string][]string{},
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
