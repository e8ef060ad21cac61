package doctor

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
)

// The canary dies of what keeps a real turn from being remembered, and says in which step. It leaves the database alone,
// also while somebody writes to it.
func TestCanary(t *testing.T) {
	for _, tt := range []struct{ name, harm, want string }{
		{"a whole database", "", "ok a test memory was saved and recalled in "},
		{"a table is gone", "DROP TABLE turns", "Writing a turn: "},
		{"a trigger refuses sessions", refuse("sessions"), "Writing a turn: writing events: "},
		{"a trigger refuses answers", "CREATE TRIGGER no BEFORE UPDATE OF assistant ON turns BEGIN SELECT RAISE(ABORT, 'no'); END",
			"Writing a turn: writing events: "},
		{"a trigger drops turns", "CREATE TRIGGER gone AFTER INSERT ON turns BEGIN DELETE FROM turns; END", "Writing a turn: "},
		{"a trigger empties turns", "CREATE TRIGGER gone AFTER UPDATE OF ended ON turns BEGIN UPDATE turns SET user = ''; END",
			"Reading it: it is not stored as it was written"},
		{"a trigger refuses passages", refuse("passages"), "Learning from it: learning from turns: "},
		{"nothing says where learning is", "DELETE FROM passages_index WHERE kind = 'backlog'", "Learning from it: "},
		{"a trigger drops passages", "CREATE TRIGGER gone AFTER INSERT ON passages BEGIN DELETE FROM passages; END",
			"Inserting it: the next session's block does not have it"},
		{"the index is gone", "DROP TABLE passages_fts", "Learning from it: "},
		{"a counter is gone", "DROP TABLE passages_index", "Copying the schema: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db, dir, remove := correlationtest.Open()
			defer remove()
			path := filepath.Join(dir, "acp", "sessions.db")
			if _, err := db.Exec(tt.harm); err != nil {
				t.Fatal(err)
			}
			state := func() string {
				text, err := os.ReadFile(path)
				log, err2 := os.ReadFile(path + "-wal")
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				return string(text) + string(log)
			}
			before := state()
			var writing *sql.Tx
			writing, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			defer writing.Rollback()
			e := examination{c: &config.Config{DB: path}}
			got := words(e.remembers(t.Context()))
			if !strings.Contains(got, tt.want) || strings.HasPrefix(got, "ok") != (tt.harm == "") {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if state() != before {
				t.Error("the database is not as it was")
			}
		})
	}
	for name, c := range map[string]config.Config{"no database yet": {DB: filepath.Join(t.TempDir(), "none.db")}, "no folder": {},
		"memory is off": {DB: filepath.Join(t.TempDir(), "none.db"), Memory: "off"}} {
		e := examination{c: &c}
		if got := e.remembers(t.Context()); len(got) > 0 {
			t.Errorf("%s: %q", name, words(got))
		}
	}
}

func refuse(table string) string {
	return "CREATE TRIGGER no BEFORE INSERT ON " + table + " BEGIN SELECT RAISE(ABORT, 'no'); END"
}

// What turns memory off in a folder is named.
func TestHere(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "src", "kiln")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Chdir(dir)
	for _, name := range []string{"SIGNET_BYPASS", "SIGNET_NO_HOOKS", "SIGNET_ACP_PARENT"} {
		t.Setenv(name, "")
	}
	ignore := filepath.Join(home, "src", ".signet-ignore")
	for _, tt := range []struct {
		name   string
		change func(c *config.Config)
		want   string
	}{
		{"nothing", func(*config.Config) {}, ""},
		{"inject: off", func(c *config.Config) { c.Agents = map[string]config.AgentConfig{"pi": {}, "codex": {Inject: true}} },
			"agents.pi.inject is off"},
		{"a glob", func(c *config.Config) { c.Exclude = []string{"src/*"} }, dir + " is excluded from memory by src/*"},
		{"no hooks", func(*config.Config) { t.Setenv("SIGNET_NO_HOOKS", "1") }, "note SIGNET_NO_HOOKS is set here"},
		{"an agent's shell, nested: inject", func(c *config.Config) { t.Setenv("SIGNET_ACP_PARENT", "7"); c.Nested = "inject" }, ""},
		{"an agent's shell", func(*config.Config) {}, "note SIGNET_ACP_PARENT is set here"},
		{"bypass", func(*config.Config) { t.Setenv("SIGNET_BYPASS", "1") }, "note SIGNET_BYPASS is set here"},
		{"a file above", func(*config.Config) {
			if err := os.WriteFile(ignore, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, dir + " is excluded from memory by " + ignore},
	} {
		e := examination{c: &config.Config{}}
		tt.change(e.c)
		if got := words(e.here()); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
