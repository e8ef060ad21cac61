package backfill

import (
	"database/sql"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

var update = flag.Bool("update", false, "write the table of docs/facts/backfill.md anew")

// A store is what a harness has written of the same two prompts, in a way of its own: files below a home, of which one
// that ends in .sql makes a database. The comment says where the way was seen, and how many prompts stand there.
type store struct {
	agent, seen, turns string
	files              []txtar.File
}

func readStore(t testing.TB, path string) store {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	agent, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".txtar"), "-")
	s := store{agent: agent, files: archive.Files}
	for line := range strings.Lines(string(archive.Comment)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "seen":
			s.seen = value
		case "turns":
			s.turns = value
		}
	}
	return s
}

// unpack writes a store below a home, and returns its one project.
func (s store) unpack(t testing.TB, home string) (project string) {
	t.Helper()
	project = filepath.Join(home, "work")
	in := strings.NewReplacer("$HOME", home, "$PLAIN", strings.Map(func(r rune) rune {
		if strings.ContainsRune("/._-", r) {
			return '-'
		}
		return r
	}, home))
	for _, f := range s.files {
		path, text := filepath.Join(home, in.Replace(f.Name)), in.Replace(string(f.Data))
		name, isDatabase := strings.CutSuffix(path, ".sql")
		write(t, path, text)
		if !isDatabase {
			continue
		}
		db, err := sql.Open(migrations.DriverName, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return project
}

// What stands in each store is taken as it was: the two prompts with the text before a tool call and after it, the tool,
// the folder and a time; subagents' apart; nothing else. docs/facts/backfill.md shows what was there and what was taken.
func TestStores(t *testing.T) {
	paths, err := filepath.Glob("testdata/stores/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| store | seen | turns there | taken in | of subagents | left out |\n|---|---|---|---|---|---|\n")
	covered := map[string]bool{"zed": true}                                                // has a test of its own
	for _, agent := range []string{"claude", "codex", "copilot", "gemini", "pi", "qwen"} { // TestFormats
		covered[agent] = true
	}
	for _, path := range paths {
		s := readStore(t, path)
		covered[s.agent] = true
		home := t.TempDir()
		place := Place{Home: home, Projects: []string{s.unpack(t, home)}}
		var turns []Turn
		var children int
		left := map[string]int{}
		err := Walk(t.Context(), place, s.agent, Visitor{
			Conversation: func(c Conversation) error {
				if c.Cwd != place.Projects[0] || strings.Contains(fmt.Sprint(c), "CANARY") {
					t.Errorf("%s: %+v", path, c)
				}
				if child, _ := c.HasParent(); child {
					children += len(c.Turns)
					return nil
				}
				turns = append(turns, c.Turns...)
				return nil
			},
			Skip:    func(skip Skip) { left[skip.Why]++ },
			LeftOut: func(what string, n int) { left[what] += n },
		})
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		var why []string
		for _, reason := range slices.Sorted(maps.Keys(left)) {
			why = append(why, fmt.Sprintf("%s (%d)", reason, left[reason]))
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %d | %d | %s |\n", s.agent, s.seen, s.turns, len(turns), children,
			strings.Join(why, ", "))
		if s.agent == "windsurf" {
			continue
		}
		want := []string{heron + "|I look.\f\n\nNoted.", kestrel + "|ok"}
		if s.agent == "aider" { // does not say where tools are called, and writes code down
			want = []string{heron + "|I look.\n\n```\n#### no words\n```\n\nNoted.",
				kestrel + "\n```\nkestrel up\n```|ok"}
		}
		var got []string
		for _, turn := range turns {
			got = append(got, turn.User+"|"+turn.Assistant)
			if turn.Started.Year() != 2026 && path != "testdata/stores/cursor-lines.txtar" {
				t.Errorf("%s: as old as %v", path, turn.Started)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q", path, got)
			continue
		}
		if tools := turns[0].Tools; s.agent != "aider" && (len(tools) != 1 || tools[0].Kind != "read") {
			t.Errorf("%s: called %+v", path, tools)
		}
	}
	for _, agent := range Agents() {
		if !covered[agent] {
			t.Errorf("%s has no fixture", agent)
		}
	}
	checkTable(t, table.String())
}

// checkTable compares a table with the one of the page, or writes it there.
func checkTable(t *testing.T, table string) {
	t.Helper()
	const page, start, end = "../../docs/facts/backfill.md",
		"<!-- stores: made by go test ./memory/backfill -run TestStores -update -->\n", "<!-- end -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), start)
	have, after, closed := strings.Cut(rest, end)
	switch {
	case !found || !closed:
		t.Fatal("the page has no place for the table")
	case have == table:
	case !*update:
		t.Error("the table of docs/facts/backfill.md is out of date: go test ./memory/backfill -run TestStores -update")
	default:
		if err := os.WriteFile(page, []byte(before+start+table+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
