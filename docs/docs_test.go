// Package docs_test holds the code to the pages that its comments cite.
package docs_test

import (
	"flag"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A comment cites a page as docs/facts/acpx.md, or one of its headings as docs/facts/acpx.md, "Ids and files".
var citation = regexp.MustCompile(`((?:docs/)?(?:facts/)?[a-z-]+\.md)(?:, "([^"]+)")?`)

// Every page that a comment cites is there, and so is the heading.
func TestCitations(t *testing.T) {
	comment := regexp.MustCompile(`(?m)(?:^|\s)(?://|--) .*$`)
	seen := 0
	err := filepath.WalkDir("..", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if e != nil && (e.Name() == "node_modules" || e.Name() == ".git") {
				return fs.SkipDir
			}
			return err
		}
		if ext := filepath.Ext(name); ext != ".go" && ext != ".sql" {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, line := range comment.FindAllString(string(text), -1) {
			for _, found := range citation.FindAllStringSubmatch(line, -1) {
				if !strings.Contains(found[1], "/") {
					continue // a file of somebody's, such as IDENTITY.md, or one in a test
				}
				seen++
				page, err := os.ReadFile(filepath.Join("..", found[1]))
				if err != nil {
					t.Errorf("%s cites %s: %v", name, found[1], err)
				} else if found[2] != "" && !regexp.MustCompile(`(?m)^#+ `+regexp.QuoteMeta(found[2])+`$`).Match(page) {
					t.Errorf("%s cites %s: it has no heading %q", name, found[1], found[2])
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Error("no comment cites a page: this looks for nothing")
	}
}

// The tests that pages name are there.
func TestNamedTests(t *testing.T) {
	there := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir("..", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "node_modules" || e.Name() == ".git"):
			return fs.SkipDir
		case strings.HasSuffix(name, "_test.go"):
			text, err := os.ReadFile(name)
			for _, found := range declared.FindAllSubmatch(text, -1) {
				there[string(found[1])] = true
			}
			return err
		case strings.HasSuffix(name, ".txtar"):
			there[e.Name()] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w+|[\\w-]+\\.txtar)`")
	seen := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range named.FindAllSubmatch(text, -1) {
			if seen++; !there[string(found[1])] {
				t.Errorf("%s names %s, which is nowhere", page, found[1])
			}
		}
	}
	if seen == 0 {
		t.Error("no page names a test: this looks for nothing")
	}
}

var update = flag.Bool("update", false, "write the tables of the pages anew")

// checkTable compares what stands between the marks of a page with what the program says.
func checkTable(t *testing.T, page, name, want string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	marks := regexp.MustCompile(`(?s)(<!-- ` + name + `: [^\n]*-->\n)(.*?)(<!-- end -->)`)
	found := marks.FindSubmatchIndex(text)
	if found == nil {
		t.Fatalf("%s has no marks for %s", page, name)
	}
	if string(text[found[4]:found[5]]) == want {
		return
	}
	if !*update {
		t.Fatalf("the table of %s in %s is out of date: go test ./docs -update", name, page)
	}
	if err := os.WriteFile(page, slices.Concat(text[:found[4]], []byte(want), text[found[5]:]), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The table of states is the one that the program asks.
func TestStates(t *testing.T) {
	var b strings.Builder
	b.WriteString("| |")
	for _, s := range correlation.States {
		b.WriteString(" " + string(s) + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(correlation.States)) + "\n")
	for _, name := range correlation.StepNames {
		b.WriteString("| " + string(name) + " |")
		for _, s := range correlation.States {
			e := correlation.Step{Name: name}
			if s == correlation.InFlight {
				e.From = correlation.Armed
			}
			next, _, ok := s.On(e)
			cell := string(next)
			switch {
			case !ok:
				cell = ""
			case next == s:
				cell = "="
			}
			b.WriteString(" " + cell + " |")
		}
		b.WriteString("\n")
	}
	checkTable(t, "architecture.md", "states", b.String())
}

// The page about events names every kind that the package declares.
func TestEvents(t *testing.T) {
	source, err := os.ReadFile("../correlation/event.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("events.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := regexp.MustCompile(`(?m)^\t"([a-z_]+)": +\w+\{\},$`).FindAllSubmatch(source, -1)
	if len(kinds) < 10 {
		t.Fatalf("%d kinds of events: this looks at the wrong file", len(kinds))
	}
	for _, kind := range kinds {
		if !strings.Contains(string(page), "`"+string(kind[1])+"`") {
			t.Errorf("events.md does not name the kind %s", kind[1])
		}
	}
}

// The rows of the table of faults are the cases of the test that makes it, in their order.
func TestFaultRows(t *testing.T) {
	all := func(file, pattern string) (names []string) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
			names = append(names, string(found[1])+" "+string(found[2]))
		}
		return names
	}
	rows := all("facts/faults.md", `(?m)^\| (daemon|client|harness|disk) \| ([^|]+) \|`)
	cases := all("../e2e/faults_test.go", `who: "(\w+)", what: "([^"]+)"`)
	if len(cases) == 0 || !slices.Equal(rows, cases) {
		t.Errorf("the page has\n%q, the test\n%q", rows, cases)
	}
}

// The picture of rooms has every folder of the program, and each imports from lower lines only.
func TestRooms(t *testing.T) {
	page, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, picture, ok := strings.Cut(string(page), "<!-- rooms -->\n```text\n")
	picture, _, closed := strings.Cut(picture, "```")
	if !ok || !closed {
		t.Fatal("architecture.md has no picture of rooms")
	}
	line := map[string]int{}
	for n, row := range strings.Split(picture, "\n") {
		for _, name := range regexp.MustCompile(`[a-z][a-z/-]*`).FindAllString(row, -1) {
			line[name] = n + 1
		}
	}
	const command = "cmd/signet-acp-proxy"
	room := func(folder string) string {
		if strings.HasPrefix(folder, command+"/") {
			return command
		}
		return folder
	}
	seen := map[string]bool{}
	err = filepath.WalkDir("..", func(name string, e fs.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(name, ".."+string(filepath.Separator)))
		switch {
		case err != nil:
			return err
		case e.IsDir() && name != ".." && (rel == "e2e" || rel == "scripts" || rel == "docs" || rel == "node_modules" ||
			strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata" || strings.HasSuffix(e.Name(), "test")):
			return fs.SkipDir
		case e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		from := room(path.Dir(rel))
		if seen[from] = true; line[from] == 0 {
			t.Errorf("%s is not in the picture", from)
		}
		for _, spec := range file.Imports {
			to, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "github.com/Signet-AI/signet-acp-proxy/")
			if to = room(to); ours && to != from && line[to] <= line[from] {
				t.Errorf("%s imports %s, which is not below %s in the picture", rel, to, from)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range line {
		if !seen[name] {
			t.Errorf("the picture has %s, which is no folder with code", name)
		}
	}
}

// The constants of the limits stand where the page says, with its numbers.
func TestLimits(t *testing.T) {
	page, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Limits\n")
	rows := regexp.MustCompile("(?m)^\\| .* \\| ([\\d.,]+).* \\| `(.+):(\\w+)` \\|$").FindAllStringSubmatch(section, -1)
	if len(rows) < 20 || len(rows) != strings.Count(section, "\n| ")-1 {
		t.Fatalf("%d rows of limits were read", len(rows))
	}
	for _, row := range rows {
		number, file, name := strings.Trim(strings.ReplaceAll(row[1], ",", ""), "."), row[2], row[3]
		text, err := os.ReadFile(filepath.Join("..", file))
		if err != nil {
			t.Error(err)
			continue
		}
		// the number stands in the declaration, or at the beginning of a function
		declared := regexp.MustCompile(`(?m)^\s*(?:const |func |var )?` + name + `\b[^;]{0,110}`).Find(text)
		if !regexp.MustCompile(`(?:^|[^\d.])` + regexp.QuoteMeta(number) + `(?:[^\d.]|$)`).Match(declared) {
			t.Errorf("%s has no %s of %s: %q", file, name, number, declared)
		}
	}
}

// The page has a row for each table of the database, and no other.
func TestTables(t *testing.T) {
	db, _, remove := correlationtest.Open()
	defer remove()
	tables, err := sqlite.Collect(t.Context(), db, sqlite.One[string], `SELECT name FROM pragma_table_list
		WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Tables\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| .").FindAllStringSubmatch(section, -1) {
		rows = append(rows, row[1])
	}
	slices.Sort(rows)
	if !slices.Equal(rows, tables) {
		t.Errorf("the page has %v,\nthe database %v", rows, tables)
	}
}

// What the pages promise is held by a test or by a command that a test runs.
func TestPromises(t *testing.T) {
	if out, err := exec.Command("../scripts/promises").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
