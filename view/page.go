// Package view is the page on which a person sees what was recorded: sessions, memories, usage. It is one HTML file
// that needs nothing else, or it is served on loopback while a browser shows it. It asks the packages that keep these;
// changes of memories (live.go) go through the embedded store.
package view

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// A Page is what the templates are given.
type Page struct {
	About
	Made time.Time
	Live bool // it is served, can change memories, and asks for what it does not have

	conversations
	MoreRows bool // there are more sessions than are listed
	Choices  choices
	Timeline timeline

	Profile            []*pageMemory // what every first prompt may get
	New                int           // lines of it that nobody has been shown
	List               []*pageMemory // the other memories, the newest first
	Files              []pageFile    // the last edited first
	Shown, AllMemories int
	Chosen             bool // the memories were found by a search or a filter
	PageN              int  // of a live page's list of memories
	More               bool // there is another page of it

	Cost                           correlation.Cost // of memory
	Usage                          usage
	Style, Script, ContentSecurity template.HTML
}

// Parts of a page, by the names of their templates.
const (
	partRows     = "rows"
	partOverview = "overview"
	partMemories = "memories"
	partUsage    = "usage"
)

// Read reads all that a page in a file shows.
func Read(ctx context.Context, src Source) (*Page, error) {
	p := newPage(src, false)
	err := p.readSessions(ctx, choice{text: maxText})
	for _, part := range []func(context.Context) error{p.readOverview, p.readAllMemories, p.readUsage} {
		if err == nil {
			err = part(ctx)
		}
	}
	return p, err
}

func newPage(src Source, live bool) *Page {
	return &Page{About: src.About, conversations: conversations{src: src}, Made: time.Now(), Live: live}
}

// readRows reads the sessions that a live page lists.
func (p *Page) readRows(ctx context.Context, q query) error {
	ids, more, err := q.find(ctx, p.src)
	if err != nil {
		return err
	}
	p.MoreRows = more
	in := append([]int64{}, ids...) // not nil, which would be all
	if err = p.readSessions(ctx, choice{sessions: in, turns: correlation.Scope{Sessions: in}}); err == nil {
		err = p.addMatches(ctx, in, q.text)
	}
	return err
}

// readOverview reads what stands beside the list while no session is open, and what sessions can be chosen by.
func (p *Page) readOverview(ctx context.Context) error {
	kinds, err := p.src.Sessions.Kinds(ctx)
	if err != nil {
		return err
	}
	remembered, err := p.src.Memories.Kinds(ctx)
	if err != nil {
		return err
	}
	p.Choices = choicesOf(kinds, remembered)
	if p.AllTurns, p.AllSessions, err = p.src.Sessions.Totals(ctx); err != nil {
		return err
	}
	if p.Cost, err = p.src.Sessions.InsertionCost(ctx); err != nil {
		return err
	}
	if p.AllMemories, err = p.src.Memories.Count(ctx); err != nil {
		return err
	}
	p.Timeline, err = readTimeline(ctx, p.src)
	return err
}

// readOne reads one session, and of its relatives what they are called.
func (p *Page) readOne(ctx context.Context, id int64) error {
	related, err := p.src.Sessions.Related(ctx, id)
	if err == nil {
		var others []int64
		others, err = p.src.Memories.EditedToo(ctx, id)
		related = append(related, others...)
	}
	if err == nil {
		err = p.readSessions(ctx, choice{sessions: append(related, id), text: maxLive,
			turns: correlation.Scope{Sessions: []int64{id}}})
	}
	if err == nil && p.byID[id] == nil {
		err = correlation.ErrNotFound
	}
	return err
}

// writePart executes one of the templates.
func (p *Page) writePart(w io.Writer, name string, data any) error {
	t, err := p.template()
	if err != nil {
		return err
	}
	return t.ExecuteTemplate(w, name, data)
}

// Write writes the page as one file.
func (p *Page) Write(w io.Writer) error {
	p.Style, p.Script = element("style", style), element("script", script)
	p.ContentSecurity = template.HTML(`<meta http-equiv="Content-Security-Policy" content="` + policy(p.Live) + `">`)
	return p.writePart(w, "page.html", p)
}

//go:embed page/*.html
var files embed.FS

//go:embed page/page.css
var style string

//go:embed page/page.js
var script string

// element returns the page's style or script as an HTML element. policy allows no other, by its hash.
func element(name, text string) template.HTML {
	return template.HTML("<" + name + ">" + text + "</" + name + ">")
}

// policy is the page's Content-Security-Policy: its one style and one script; a live page may also make requests to its
// own server.
func policy(live bool) string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	connect := "'none'"
	if live {
		connect = "'self'"
	}
	return fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; connect-src %s; base-uri 'none'; "+
		"form-action 'none'", hash(style), hash(script), connect)
}

// template parses the templates, only when a page is made: a relay needs none.
func (p *Page) template() (*template.Template, error) {
	t := template.New("page").Funcs(template.FuncMap{
		"date":    func(t time.Time) string { return t.Local().Format("2 January 2006") },
		"clock":   func(t time.Time) string { return t.Local().Format("15:04") },
		"moment":  func(t time.Time) string { return t.Local().Format("2 January 2006, 15:04") },
		"stamp":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"took":    took,
		"short":   memory.HomeShort,
		"count":   count,
		"figure":  func(n int) string { return telemetry.Figure(int64(n)) },
		"project": projectName,
		"base":    baseName,
		"harness": harnessName,
		"when":    func(t time.Time) string { return when(p.Made, t) },
		"bytes":   telemetry.Bytes,
		"millis":  func(t time.Time) int64 { return t.UnixMilli() },
		"flags":   func() string { return p.Flags },
		"live":    func() bool { return p.Live },
		"sub":     func(a, b int) int { return a - b },
	})
	names, err := fs.Glob(files, "page/*.html")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		// each line end would be a node in the browser's document: with ten thousand turns, hundreds of thousands
		if t, err = t.New(path.Base(name)).Parse(strings.ReplaceAll(string(text), "\n", "")); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// First are the sessions whose rows the page has as elements from the beginning on; Rest are those after them, which
// are text to the browser until somebody wants more.
func (p *Page) First() []*session { return p.Listed[:min(len(p.Listed), pageRows)] }
func (p *Page) Rest() []*session {
	if p.Live {
		return nil
	}
	return p.Listed[min(len(p.Listed), pageRows):]
}
