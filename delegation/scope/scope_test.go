package scope

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Parts of the refusals, for the table.
const (
	ok      = ""
	empty   = "delegated_scope is empty"
	noKept  = "kept_work is empty"
	same    = "kept_work names nothing of your own"
	grows   = "is outside your own scope"
	allOfIt = "you would keep nothing of your own scope"
	long    = "too long"
)

// The verdicts. Those of callers that nobody delegated to have no caller.
var verdicts = []struct {
	why, caller, delegated, kept, want string
}{
	// plain
	{"two parts", "", "review of the parser", "writing the release notes", ok},
	{"two paths", "", "proxy/frame", "proxy/wire", ok},
	{"lists in lines", "", "proxy/frame\nproxy/wire", "docs\nthe release", ok},
	{"lists in semicolons", "", "proxy/frame; proxy/wire", "docs; the release", ok},
	{"bullets", "", "- proxy/frame\n* proxy/wire", "• docs", ok},
	{"nothing delegated", "", "", "docs", empty},
	{"nothing kept", "", "docs", "", noKept},
	{"white space and signs", "", " \n;; \t", "docs", empty},
	{"only bullets", "", "docs", "- \n- ", noKept},
	{"equal", "", "review of the parser", "review of the parser", same},
	{"kept is a part", "", "parser, lexer and printer", "the lexer", same},
	{"kept is more", "", "the lexer", "lexer and printer", ok},
	{"stop words only", "", "all of it", "docs", empty},
	{"stop words kept", "", "docs", "everything else", noKept},
	{"a child's share", "parser\nlexer", "lexer", "parser", ok},
	{"a child's path", "proxy", "proxy/frame", "proxy/wire", ok},
	{"growing", "parser", "parser\nlexer", "parser", same},
	{"growing by a word", "parser\nlexer", "parser of numbers", "lexer", grows},
	{"handing all on", "parser\nlexer", "parser\nlexer", "reporting", allOfIt},
	{"handing all on, but for other work", "parser", "parser", "my own thoughts", allOfIt},
	{"a sibling's path", "proxy/frame", "proxy/wire", "proxy/frame", grows},
	{"the folder above", "proxy/frame", "proxy", "docs", grows},
	{"a file of a folder", "proxy/frame", "proxy/frame/scan.go", "proxy/frame/peek.go", ok},
	{"a glob of a folder", "proxy/frame", "proxy/frame/*.go", "proxy/frame/testdata", ok},
	{"back to the caller", "the tests of the parser\nits docs", "writing the release notes", "docs", grows},
	{"a word out of an item", "parser and lexer of numbers", "lexer", "parser", ok},
	{"words of two items in one", "parser speed\nlexer memory", "parser memory", "lexer", grows},
	{"kept names nothing of one's own", "parser\nlexer", "lexer", "coffee", allOfIt},
	{"kept goes beyond, and names a part", "parser\nlexer", "lexer", "parser and coffee", ok},
	{"an absolute path", "proxy", "/src/heron/proxy/frame", "proxy/wire", ok},

	// tricky
	{"case", "", "The PARSER", "the parser", same},
	{"endings", "", "reviewing parsers", "reviews of the parser", same},
	{"accents", "", "the naïve café", "naive cafe", same},
	{"German endings", "", "die Prüfung der Dateien", "die Datei und die Prüfung", same},
	{"other German work", "", "die Prüfung der Dateien", "die Übersetzung der Handbücher", ok},
	{"French stop words", "", "la revue du code", "le la les", noKept},
	{"Russian", "", "парсера и лексера", "лексеров", same},
	{"Chinese", "", "测试解析器", "编写文档", ok},
	{"Chinese, the same", "", "测试解析器", "解析器", same},
	{"Japanese endings only", "", "パーサーのテスト", "している", noKept},
	{"an identifier in parts", "", "maxRetryCount", "max_retry_count", same},
	{"a word with a hidden sign", "", "parser", "par\u200bser", same},
	{"nothing, in words", "", "parser", "nothing", noKept},
	{"n/a", "", "parser", "N/A", noKept},
	{"nichts", "", "den Parser prüfen", "nichts.", noKept},
	{"to be done", "", "parser", "TBD", noKept},
	{"not the same thing", "", "the parser", "not the parser", same},
	{"the whole folder", "", ".", "docs", empty},
	{"all files", "", "**/*", "docs", empty},
	{"one kind of files", "", "**/*.go", "docs/*.md", ok},
	{"kept below what is delegated", "", "proxy", "proxy/frame/scan.go", same},
	{"dots lead out", "proxy/frame", "proxy/frame/../wire", "proxy/frame", grows},
	{"dots lead back in", "proxy", "proxy/frame/../wire", "proxy/frame", ok},
	{"dots above all", "proxy", "../../etc/passwd", "proxy/frame", grows},
	{"dots hidden in words", "secrets handling\nparser", "../secrets", "parser", grows},
	{"a name that begins alike", "proxy/frame", "proxy/frame2", "proxy/frame/scan.go", grows},
	{"case of paths", "proxy/frame", "Proxy/Frame", "proxy/frame/scan.go", grows},
	{"a glob that is wider", "proxy/frame/*.go", "proxy/frame/*", "docs", grows},
	{"a glob in a glob", "proxy/**/*_test.go", "proxy/frame/scan*_test.go", "proxy/wire/*_test.go", ok},
	{"stars that climb", "proxy/*/scan.go", "proxy/**", "docs", grows},
	{"a link that leads out", "proxy", "proxy/link", "proxy/frame", grows},
	{"a link below what it leads to", "docs", "proxy/docs/a.md", "docs/b.md", ok},
	{"a folder's name as a word", "proxy/frame", "proxy", "docs", grows},
	{"a path's words", "proxy/frame\nparser", "the frame", "parser", ok},
	{"a path for words", "the frame of the proxy\nparser", "proxy/frame", "parser", ok},
	{"quotes", "docs", "`docs/my file.md`", "docs/other.md", ok},
	{"files that differ by a letter", "proxy", "proxy/a.go", "proxy/b.go", ok},
	{"a path that words name", "", "review the frame of the proxy", "proxy/frame", same},
	{"a glob's folder as a word", "proxy/*\nparser", "proxy", "parser", grows},
	{"a file of a glob", "proxy/*.go\nparser", "proxy/scan.go", "parser", ok},
	{"a file beside a glob", "proxy/*.go\nparser", "proxy/scan.md", "parser", grows},
	{"a glob for a name", "proxy/scan\nparser", "proxy/scan*", "parser", grows},
	{"a glob of letters for a glob", "proxy/[ab]*.go\nparser", "proxy/a*.go", "parser", grows},
	{"a malformed glob", "proxy/[\nparser", "proxy/scan.go", "parser", grows},
	{"as many items as fit", "", strings.Repeat("parser;", 100), "docs", ok},
	{"too many items", "", strings.Repeat("parser;", 101), "docs", long},
	{"as much as fits", "", "parser" + strings.Repeat(" ", 16<<10-6), "docs", ok},
	{"too much", "", "parser" + strings.Repeat(" ", 16<<10-5), "docs", long},
	{"bytes that are no text", "", "\xff\xfe", "docs", empty},
}

// links are the symbolic links of the table.
func links(name string) string {
	for from, to := range map[string]string{"/src/heron/proxy/link": "/etc",
		"/src/heron/proxy/docs": "/src/heron/docs"} {
		if rest, ok := strings.CutPrefix(name, from); ok && (rest == "" || rest[0] == '/') {
			return to + rest
		}
	}
	return name
}

func TestVerdicts(t *testing.T) {
	if len(verdicts) < 60 {
		t.Errorf("%d verdicts", len(verdicts))
	}
	for _, tt := range verdicts {
		t.Run(tt.why, func(t *testing.T) {
			r := Request{Delegated: tt.delegated, Kept: tt.kept, Caller: tt.caller, Dir: "/src/heron", Follow: links}
			err := r.Check()
			switch {
			case tt.want == ok && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != ok && err == nil:
				t.Error("allowed")
			case tt.want != ok && !strings.Contains(err.Error(), tt.want):
				t.Errorf("refused for another reason: %v", err)
			}
			if err != nil && (len(err.Error()) > 600 || strings.Contains(err.Error(), "\n")) {
				t.Errorf("the refusal is no line: %q", err)
			}
		})
	}
}

// What is surely a path, what may be one, and what is none.
func TestReadPath(t *testing.T) {
	for item, want := range map[string]string{"heron.c": "heron.c true true", "heron.markdown": "heron.markdown true true",
		"heron.downmarks": "heron.downmarks false true", "v1.2": "v1.2 false true", ".a": ".a false true",
		".env": ".env true true", "..": ".. true true", `a\b`: "a/b true true", "'my file'": "my file false true",
		"my file": " false false", `""`: `"" false true`, `'a'`: "a false true", "heron": "heron false true"} {
		name, sure, single := readPath(item)
		if got := fmt.Sprint(name, " ", sure, " ", single); got != want {
			t.Errorf("%s: %s, want %s", item, got, want)
		}
	}
}

// Whoever hands on what he was given has less words to hand on each time, so that a chain ends by itself.
func TestChainsEnd(t *testing.T) {
	words := []string{"parser", "lexer", "printer", "scanner", "linker", "loader"}
	rapid.Check(t, func(t *rapid.T) {
		list := func(name string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 8).Draw(t, name), rapid.SampledFrom(
				[]string{" ", ";"}).Draw(t, name+" joined by"))
		}
		caller := strings.Join(words, ";")
		for step := 0; ; step++ {
			if step > len(words) {
				t.Fatalf("it goes on after %d steps with %q", step, caller)
			}
			next := Request{Delegated: list("delegated"), Kept: list("kept"), Caller: caller}
			if next.Check() != nil {
				return
			}
			caller = next.Delegated
		}
	})
}

// What is allowed inside a delegation names no file outside of it.
func FuzzPaths(f *testing.F) {
	for _, tt := range verdicts {
		if tt.caller != "" {
			f.Add(tt.caller, tt.delegated)
		}
	}
	f.Fuzz(func(t *testing.T, caller, delegated string) {
		own, whole, _ := readPath(caller)
		name, single, _ := readPath(delegated)
		if !whole || !single || strings.ContainsAny(caller+delegated, "*?[\\;\n\r") || len(Items(caller)) != 1 {
			return
		}
		r := Request{Delegated: delegated, Kept: "zebra " + caller, Caller: caller + "\nzebra", Dir: "/src/heron"}
		if r.Check() != nil {
			return
		}
		rooted := func(p string) string {
			if !path.IsAbs(p) {
				p = path.Join("/src/heron", p)
			}
			return path.Clean(p)
		}
		inside, outside := rooted(strings.TrimSuffix(visible(name), "/...")),
			rooted(strings.TrimSuffix(visible(own), "/..."))
		if inside != outside && !strings.HasPrefix(inside, strings.TrimSuffix(outside, "/")+"/") {
			t.Errorf("%q holds %q", caller, delegated)
		}
	})
}

func Example() {
	fmt.Println(Request{Delegated: "proxy/frame", Kept: "the release notes"}.Check())
	fmt.Println(Request{Delegated: "docs", Kept: "proxy", Caller: "proxy/frame"}.Check())
	// Output:
	// <nil>
	// "docs" is outside your own scope: write a path below, or only words of, one of your own items: proxy/frame
}
