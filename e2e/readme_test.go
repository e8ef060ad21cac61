package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A page is a document for people. What stands in it is held to what the program does: each command is played
// (readme_commands_test.go), configuration is configured, and what a page says that a command prints is compared with
// it.
type page struct {
	name     string // "docs/clients.md"
	text     string
	prose    string // without what stands in fences
	commands []typed
	blocks   []block
	mistakes []string // what cannot be read
}

// A typed command is one that a reader would type.
type typed struct {
	where string // "docs/clients.md:12"
	line  string
	shows string // what it prints, as the page has it; "" where the page does not say
}

// A block stands in a fence; language says what it is.
type block struct{ where, language, text string }

// Languages of fences: sh is a command a line; console has commands after "$ ", and under them what they print, in
// which "…" stands for anything; yaml is an agent.yaml; json is a client's configuration or what a hook reads; text
// is for the eye.
var languages = []string{"sh", "console", "yaml", "json", "text"}

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	comment  = regexp.MustCompile(`\s{2,}# .*$`)
	// What makes code in a sentence a command: it begins with a program, or with a command of ours and something more.
	program    = regexp.MustCompile(`^([A-Z_]+=\S+ )*(signet-acp-proxy|acpx|make|go|git|npm|npx|source) `)
	subcommand = regexp.MustCompile(`^(sessions|show|preview|doctor|deliver|mcp|memory|forget|prune|setup|config|completion) \S`)
)

// readPage finds the commands and blocks of a page, in its order.
func readPage(name, text string) *page {
	p := &page{name: name, text: text}
	var open *block
	for i, line := range strings.Split(text, "\n") {
		where := fmt.Sprintf("%s:%d", name, i+1)
		fence, fenced := strings.CutPrefix(line, "```")
		switch {
		case fenced && open == nil:
			open = &block{where: where, language: fence}
			if !slices.Contains(languages, fence) {
				p.mistakes = append(p.mistakes, fmt.Sprintf("%s: a fence needs one of %v, not %q",
					where, languages, fence))
			}
		case fenced:
			p.blocks = append(p.blocks, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
			p.readFenced(where, open.language, line)
		default:
			if strings.HasPrefix(line, "    ") {
				p.mistakes = append(p.mistakes, where+": put this into a fence, which says what it is")
			}
			p.prose += line + "\n"
			for _, span := range codeSpan.FindAllStringSubmatch(line, -1) {
				code := strings.ReplaceAll(span[1], `\|`, "|")
				switch {
				case program.MatchString(code):
					p.commands = append(p.commands, typed{where: where, line: code})
				case subcommand.MatchString(code):
					p.commands = append(p.commands, typed{where: where, line: "signet-acp-proxy " + code})
				}
			}
		}
	}
	if open != nil {
		p.mistakes = append(p.mistakes, open.where+": the fence is not closed")
	}
	return p
}

func (p *page) readFenced(where, language, line string) {
	command, prompted := strings.CutPrefix(line, "$ ")
	switch {
	case language == "sh" && line != "" && line[0] != '#':
		p.commands = append(p.commands, typed{where: where, line: comment.ReplaceAllString(line, "")})
	case language == "console" && prompted:
		p.commands = append(p.commands, typed{where: where, line: command})
	case language == "console" && len(p.commands) > 0:
		p.commands[len(p.commands)-1].shows += line + "\n"
	}
}

// pages are README.md and docs/*.md.
func pages(t *testing.T) []*page {
	t.Helper()
	names, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []*page
	for _, name := range append([]string{"../README.md"}, names...) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p := readPage(strings.TrimPrefix(filepath.ToSlash(name), "../"), string(text))
		for _, mistake := range p.mistakes {
			t.Error(mistake)
		}
		all = append(all, p)
	}
	return all
}

// A command that nobody has thought of how to play fails the tests, and so does a fence that does not say what it
// holds.
func TestReadPage(t *testing.T) {
	p := readPage("x.md", "Say `frob --now`, `show ID` or `make all`.\n```sh\n# why\nfrob \"a # b\"   # "+
		"how\n```\n```console\n$ frob\n…\n```\n```\nwhat?\n```\n    frob\n")
	want := []typed{
		{"x.md:1", "signet-acp-proxy show ID", ""}, {"x.md:1", "make all", ""}, {"x.md:4", `frob "a # b"`, ""}, {"x.md:7", "frob", "…\n"},
	}
	if diff := cmp.Diff(want, p.commands, cmp.AllowUnexported(typed{})); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if len(p.mistakes) != 2 || known("frob") || !known("make run") {
		t.Errorf("mistakes: %q, frob is known: %v", p.mistakes, known("frob"))
	}
}

// Every link inside the project leads to a file, and to a heading where it names one; every page is linked from
// README.md.
func TestPageLinks(t *testing.T) {
	all := pages(t)
	link := regexp.MustCompile(`\]\(([^)#]*)(?:#([^)]*))?\)`)
	linked := map[string]bool{"README.md": true}
	for _, p := range all {
		for _, found := range link.FindAllStringSubmatch(p.prose, -1) {
			target, anchor := found[1], found[2]
			if strings.Contains(target, "://") {
				continue
			}
			file := p.name
			if target != "" {
				file = filepath.ToSlash(filepath.Join(filepath.Dir(p.name), target))
			}
			if p.name == "README.md" {
				linked[file] = true
			}
			text, err := os.ReadFile(filepath.Join("..", file))
			if err != nil {
				t.Errorf("%s: %v", p.name, err)
			} else if anchor != "" && !slices.Contains(anchors(string(text)), anchor) {
				t.Errorf("%s: %s has no heading #%s", p.name, file, anchor)
			}
		}
	}
	for _, p := range all {
		if !linked[p.name] {
			t.Errorf("README.md does not link to %s", p.name)
		}
	}
}

var (
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	mark    = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchors are the names of a page's headings.
func anchors(text string) (names []string) {
	for _, found := range heading.FindAllStringSubmatch(text, -1) {
		names = append(names, strings.ReplaceAll(mark.ReplaceAllString(strings.ToLower(found[1]), ""), " ", "-"))
	}
	return names
}

// What the pages say of versions and settings is what the project has.
func TestPagesAgree(t *testing.T) {
	all := pages(t)
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	tags := regexp.MustCompile(`(?m)^TAGS := (.*)$`).FindStringSubmatch(string(makefile))[1]
	wanted := "Go " + goCommand(t, "list", "-m", "-f", "{{.GoVersion}}") + " or newer"
	if !strings.Contains(all[0].prose, wanted) {
		t.Errorf("README.md does not ask for %q", wanted)
	}
	for _, p := range all {
		for _, found := range regexp.MustCompile("-tags[ =]([^ `]+)").FindAllStringSubmatch(p.text, -1) {
			if found[1] != tags {
				t.Errorf("%s: -tags %s, and the Makefile has %s", p.name, found[1], tags)
			}
		}
	}
}

// goCommand runs go in the checkout.
func goCommand(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// same reports whether text is what a page shows, in which "…" stands for anything: alone in its line for any number of
// lines.
func same(shown, text string) bool {
	var pattern strings.Builder
	for line := range strings.Lines(shown) {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*?"))
	}
	return regexp.MustCompile(`^` + pattern.String() + `$`).MatchString(text)
}
