package runtime

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// A session's id is shown as short as nobody else's begins.
func TestBeginning(t *testing.T) {
	for _, c := range []struct{ name, beside, want string }{
		{"abcdefghijkl", "", "abcdefgh"},
		{"abcdefghij", "abcdefghik", "abcdefghij"},
		{"sess", "sess-1", "sess"}, // one begins the other: the whole of it
		{"sess-1", "sess", "sess-1"},
		{"äöüäöüäöü1x", "äöüäöüäöü2", "äöüäöüäöü1"},
	} {
		if got := beginning(c.name, strings.Fields(c.beside)); got != c.want {
			t.Errorf("%s beside %s: %q, want %q", c.name, c.beside, got, c.want)
		}
	}
}

// What a session used is the sum of what was reported, and its window is the one that was reported last.
func TestSessionUsage(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SIGNET_PATH", t.TempDir())
	c, err := config.Load(config.Flags{Memory: "embedded"})
	if err != nil {
		t.Fatal(err)
	}
	db, err := migrations.Open(t.Context(), c.DB)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	d := &Data{Config: c, DB: db, Sessions: correlation.New(db, correlation.Options{LiveDir: c.LiveDir(), Path: c.DB})}
	for _, id := range []string{"one", "two"} {
		if _, err := correlationtest.Session(t.Context(), d.Sessions, correlation.OpenSession{Harness: "codex", ACPID: id}); err != nil {
			t.Fatal(err)
		}
	}
	for _, values := range []string{`NULL, 'result', 10, 5, NULL, NULL`, `NULL, 'result', 20, 7, NULL, NULL`,
		`NULL, 'update', NULL, NULL, 100, 1000`, `NULL, 'update', NULL, NULL, 200, 1000`, `NULL, 'result', 1, 1, NULL, NULL`} {
		if _, err := db.Exec(`INSERT INTO usage (session, at, raw, turn, reporter, input, output, context_used,
			context_size) VALUES (1, 1, '{}', ` + values + `)`); err != nil {
			t.Fatal(err)
		}
	}
	all, _, err := d.List(t.Context(), SessionFilter{})
	if err != nil {
		t.Fatal(err)
	}
	number := func(n int64) *int64 { return &n }
	want := map[string]*rowUsage{"two": nil, "one": {InputTokens: number(31), OutputTokens: number(13),
		ContextUsed: number(200), ContextSize: number(1000)}}
	for _, s := range all {
		if diff := cmp.Diff(want[s.ACPID], s.Row().Usage); diff != "" {
			t.Errorf("%s (-want +got)\n%s", s.ACPID, diff)
		}
	}
}
