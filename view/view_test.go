package view_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/view"
	"github.com/Signet-AI/signet-acp-proxy/view/viewtest"
)

// source is a database of its own with a sample in it.
func source(t testing.TB, sample viewtest.Sample) view.Source {
	t.Helper()
	dir := t.TempDir()
	db, err := migrations.Open(t.Context(), filepath.Join(dir, "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	sample.Now = time.Date(2026, 11, 22, 14, 0, 0, 0, time.Local)
	if err := sample.Fill(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return view.Source{DB: db, Sessions: correlation.New(db, correlation.Options{LiveDir: filepath.Join(dir, "live")}).Book(),
		Memories:    embedded.New(db, embedded.Options{}),
		Delegations: delegation.NewLedger(db, filepath.Join(dir, "live"), filepath.Join(dir, "work")),
		About:       view.About{Database: "/home/s/.agents/acp/sessions.db", Retention: "365 days"}}
}

// databaseOf is the file of a source.
func databaseOf(t testing.TB, src view.Source) string {
	t.Helper()
	var file string
	if err := src.DB.QueryRow(`SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&file); err != nil {
		t.Fatal(err)
	}
	return file
}

// A document is a page as a browser takes it in.
type document struct {
	t    testing.TB
	root *html.Node
	text string // the file
}

func write(t testing.TB, src view.Source) document {
	t.Helper()
	page, err := view.Read(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := page.Write(&b); err != nil {
		t.Fatal(err)
	}
	return parse(t, b.String())
}

func parse(t testing.TB, text string) document {
	t.Helper()
	root, err := html.ParseWithOptions(strings.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatal(err)
	}
	return document{t, root, text}
}

// all returns the elements that are wanted.
func (d document) all(want func(*html.Node) bool) (found []*html.Node) {
	for n := range d.root.Descendants() {
		if n.Type == html.ElementNode && want(n) {
			found = append(found, n)
		}
	}
	return found
}

func (d document) named(name string) []*html.Node {
	return d.all(func(n *html.Node) bool { return n.Data == name })
}

// section is a part of the page in words.
func (d document) section(id string) string {
	d.t.Helper()
	for _, n := range d.all(func(n *html.Node) bool { return attribute(n, "id") == id }) {
		return words(n)
	}
	d.t.Fatalf("there is no %s", id)
	return ""
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func words(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// What is stored is shown as it is, and is nothing but text: the page has one script, one style, and names nothing that
// is not in it.
func TestHostile(t *testing.T) {
	d := write(t, source(t, viewtest.Sample{Turns: 60, Memories: 40}))
	for _, part := range []string{"sessions", "memories"} {
		if !strings.Contains(d.section(part), viewtest.Hostile) {
			t.Errorf("the %s do not show what is stored as it is", part)
		}
	}
	csp := ""
	for _, n := range d.named("meta") {
		if attribute(n, "http-equiv") == "Content-Security-Policy" {
			csp = attribute(n, "content")
		}
	}
	if !strings.HasPrefix(csp, "default-src 'none'; ") || strings.Contains(csp, "unsafe") {
		t.Errorf("the policy is %q", csp)
	}
	for _, name := range []string{"script", "style"} {
		all := d.named(name)
		if len(all) != 1 || all[0].Parent.Data != "head" || len(all[0].Attr) != 0 {
			t.Fatalf("%d elements are a %s", len(all), name)
		}
		sum := sha256.Sum256([]byte(words(all[0])))
		if !strings.Contains(csp, name+"-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
			t.Errorf("the policy does not name the %s: %s", name, csp)
		}
	}
	ids := map[string]bool{}
	for _, n := range d.all(func(n *html.Node) bool { return attribute(n, "id") != "" }) {
		if id := attribute(n, "id"); ids[id] {
			t.Errorf("two elements are %s", id)
		} else {
			ids[id] = true
		}
	}
	foreign := []string{"img", "iframe", "object", "embed", "link", "base", "video", "audio", "use", "image"}
	links := 0
	for _, n := range d.all(func(*html.Node) bool { return true }) {
		if slices.Contains(foreign, n.Data) {
			t.Errorf("the page has a %s", n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "src", a.Key == "action":
				t.Errorf("%s has %s=%q", n.Data, a.Key, a.Val)
			case a.Key == "href":
				if links++; strings.HasPrefix(a.Val, "#") && !ids[a.Val[1:]] || !strings.HasPrefix(a.Val, "#") &&
					attribute(n, "rel") != "noopener noreferrer" {
					t.Errorf("a link leads to %q", a.Val)
				}
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links: sessions and memories name each other", links)
	}
}

// Everything that a person wants to know of a session stands there without a script.
func TestSessions(t *testing.T) {
	d := write(t, source(t, viewtest.Sample{Turns: 60, Memories: 40}))
	text := d.section("sessions")
	for _, want := range []string{
		"/home/sample/src/curlew", "no project", "22 November 2026, 15:00",
		"How long is the mast of the Curlew?",
		"Inserted before your words: 1 memory, 229 B, from the embedded store; 4 ms to find, the prompt waited 6 ms; the agent has it",
		"The mast of the Curlew is 11.42 metres long.\n memory", "go.mod no use seen", " memory used",
		"Read chart.go read completed, 12 ms /home/sample/src/curlew/chart.go", "go test ./... execute failed, 4210 ms",
		"sent, perhaps lost", "cancelled", "3 turns2,700 tokens in, 360 out, 0.094 USD", "Qwen Code/home/sample/orchard",
		"began with: ", "Continues", "Continued in", "Called by", "Codex, which delegated", "1 file edited, 1 read or named", "go.mod edited; also edited in ", "chart.go read",
		"How long is the mast of the Curlew?curlew13.1k1",
		"A prompt of a megabyte. A prompt of a megabyte. A prompt of a megabyte. A promp…", "… and 1.0 MB more",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if len(d.text) > 1<<20 {
		t.Errorf("a prompt of a megabyte makes a page of %d bytes", len(d.text))
	}
}

func TestMemories(t *testing.T) {
	src := source(t, viewtest.Sample{Turns: 60, Memories: 40})
	stored, _, err := src.Memories.Add(t.Context(), embedded.Memory{Content: "The tide table hangs in the shed.",
		Project: "/p"})
	if err != nil {
		t.Fatal(err)
	}
	src.About.Flags = " --db /x"
	text := write(t, src).section("memories")
	for _, want := range []string{
		"Your profile", "pinnedpreference", "from you, in ", " timesapplies everywhere", "recalled 2 times",
		"The tide table hangs in the shed.", "unused" + stored.ID, "signet-acp-proxy view --live --db /x",
		"Files edited last", "go.modcurlew",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if n := strings.Count(text, "view --live"); n != 1 {
		t.Errorf("the command stands there %d times", n)
	}
}

// What replaced what is said of the newer one.
func TestReplaced(t *testing.T) {
	src := source(t, viewtest.Sample{})
	for _, text := range []string{"The kiln is fired at 1220 degrees.",
		"From now on the kiln is fired at 1240 degrees instead of 1220 degrees."} {
		if _, _, err := src.Memories.Add(t.Context(), embedded.Memory{Content: text, Project: "/p"}); err != nil {
			t.Fatal(err)
		}
	}
	text := write(t, src).section("memories")
	if !strings.Contains(text, "Replaces: The kiln is fired at 1220 degrees.") {
		t.Error(text)
	}
}

func TestUsage(t *testing.T) {
	d := write(t, source(t, viewtest.Sample{Turns: 60, Memories: 40}))
	text := d.section("usage")
	for _, want := range []string{"What memory cost", " prompts, about ", "Qwen Code reported no usage",
		"By harness", "By project", "By week", "By session", "Qwen Code39–––", "unreported)"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	charts := d.all(func(n *html.Node) bool { return n.Data == "svg" && attribute(n.Parent, "class") == "" })
	if len(charts) != 3 {
		t.Fatalf("%d charts", len(charts))
	}
	for _, c := range charts {
		if attribute(c, "role") != "img" || !strings.Contains(attribute(c, "aria-label"), " in all, at most ") {
			t.Errorf("a chart says nothing to who cannot see it: %v", c.Attr)
		}
	}
}

func TestEmpty(t *testing.T) {
	d := write(t, source(t, viewtest.Sample{}))
	for part, want := range map[string]string{"sessions": "No sessions yet", "memories": "No memories yet",
		"usage": "No usage yet", "recorded": "SIGNET_BYPASS=1"} {
		if text := d.section(part); !strings.Contains(text, want) {
			t.Errorf("%s: %q is missing in %s", part, want, text)
		}
	}
}

// The newest turns are there, and the others are counted.
func TestLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("it has one goroutine")
	}
	src := source(t, viewtest.Sample{Turns: 10_100})
	p, err := view.Read(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	if p.Turns != 10_000 || p.AllTurns != 10_100 || len(p.Listed) >= p.AllSessions {
		t.Errorf("%d of %d turns, %d of %d sessions", p.Turns, p.AllTurns, len(p.Listed), p.AllSessions)
	}
	d := write(t, src)
	if text := d.section("sessions"); !strings.Contains(text, "the newest 10,000 of 10,100 turns") {
		t.Error("the rest is not counted")
	}
}

// Sessions that call each other in a circle, or themselves, are shown once each.
func TestCircles(t *testing.T) {
	src := source(t, viewtest.Sample{Turns: 9})
	exec(t, src.DB, `UPDATE sessions SET
		parent_key = CASE id WHEN 1 THEN 'acp-00000001' WHEN 2 THEN 'acp-00000000' ELSE key END,
		continue_of = CASE id WHEN 1 THEN 2 WHEN 2 THEN 1 ELSE id END`)
	d := write(t, src)
	if n := len(d.named("article")); n != 3 {
		t.Errorf("%d sessions are shown, of 3", n)
	}
}

func exec(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.Exec(statement, args...); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkRead makes the page of a database of 100,000 sessions.
func BenchmarkRead(b *testing.B) {
	src := source(b, viewtest.Sample{Turns: 300_000, Memories: 10_000})
	for b.Loop() {
		write(b, src)
	}
}
