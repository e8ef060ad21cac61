//go:build harnesses

package harnesses

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

// checks are the rows of the table that make harnesses prints, in its order.
var checks = []string{
	"version",
	"first prompt: identity", "… a memory of another session", "… once, also in the next process",
	"session loaded in a new process", "history and titles without our block", "cancelled turn",
	"memory tool called and answered", "nothing opens anything", "identity after /compact", "… after it compacted by itself",
	"title of the user's words", "… after a command", "identity in the system prompt",
	"context after a login", "notices are no words", "list while a session is made", "doctor",
	"acpx exec, sessions", "acpx sessions watch", "acpx shared session", "acpx flow",
	"proxy killed in a turn: the turn is kept", "leaves nothing behind",
	"end, direct", "end, through us", "end after a load, direct", "end after a load, through us",
}

// A results table: what the tests have found of each harness.
var results = struct {
	sync.Mutex
	cells map[[2]string]string // harness and check
}{cells: map[[2]string]string{}}

// note puts a value into the table; what once was NO stays that.
func (h harness) note(check, value string) {
	results.Lock()
	defer results.Unlock()
	if cell := [2]string{h.name, check}; results.cells[cell] != "NO" {
		results.cells[cell] = value
	}
	if !slices.Contains(checks, check) {
		checks = append(checks, check)
	}
}

// noted is what the table has so far.
func (h harness) noted(check string) string {
	results.Lock()
	defer results.Unlock()
	return results.cells[[2]string{h.name, check}]
}

// check notes whether something is as it should be, and fails the test if it is not.
func (s stage) check(what string, ok bool, format string, args ...any) {
	s.t.Helper()
	if ok {
		s.note(what, "yes")
		return
	}
	s.note(what, "NO")
	s.t.Errorf(what+": "+format, args...)
}

// table returns what was found, as Markdown.
func table() string {
	var b strings.Builder
	row := func(cells ...string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	names, lines := []string{""}, []string{"---"}
	all := slices.Concat(harnesses, others)
	for _, h := range all {
		names, lines = append(names, h.name), append(lines, "---")
	}
	row(names...)
	row(lines...)
	for _, check := range checks {
		cells, found := []string{check}, false
		for _, h := range all {
			value, ok := results.cells[[2]string{h.name, check}]
			if found = found || ok; !ok {
				value = "-"
			}
			cells = append(cells, value)
		}
		if found {
			row(cells...)
		}
	}
	return b.String()
}

// The table stands between these in the page that pageVariable names.
const (
	pageVariable = "SIGNET_HARNESS_TABLE"
	tableBegins  = "<!-- harnesses: made by make harnesses INTO=docs/facts/harnesses.md -->\n"
	tableEnds    = "<!-- end -->"
)

// putInto replaces the table in a page.
func putInto(page, table string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), tableBegins)
	_, after, ended := strings.Cut(rest, tableEnds)
	if !found || !ended {
		return fmt.Errorf("%s has no place for the table", page)
	}
	return os.WriteFile(page, []byte(before+tableBegins+table+tableEnds+after), 0o644)
}

func TestMain(m *testing.M) {
	if file := os.Getenv(tapVariable); file != "" {
		os.Unsetenv(tapVariable)
		os.Exit(tap(file, os.Args[1:]))
	}
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	var err error
	if binaries, err = os.MkdirTemp("", "signet-harnesses-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(binaries)
	code = m.Run()
	if len(results.cells) == 0 {
		return code
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	fmt.Fprint(w, strings.ReplaceAll(table(), " | ", "\t| "))
	w.Flush()
	if page := os.Getenv(pageVariable); page != "" {
		when := fmt.Sprintf("Of %s, with acpx %s.\n\n", time.Now().Format(time.DateOnly), acpxVersion())
		if err := putInto(page, when+table()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// acpxVersion is that of the acpx that the tests run.
func acpxVersion() string {
	p, err := installed()
	if err != nil {
		return "?"
	}
	return p.clients.Version("acpx")
}
