// Package view is the page on which a person sees what was recorded: sessions, memories, what was used. It is one file
// that needs nothing else, or served on loopback for as long as somebody looks at it. It reads the database with
// queries of its own; what it changes (live.go) the embedded store does.
package view

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	// html/template, but that it looks no method up by its name: that would keep every method of every type in the
	// program (TestNoMethodIsLookedUpByName)
	template "github.com/DataDog/datadog-agent/pkg/template/html"

	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// A Page is what its templates show.
type Page struct {
	About
	Made time.Time
	Live bool // it is served, and can change memories

	Conversations
	Days     []Day
	Timeline Timeline
	Memories
	Usage                          Usage
	Style, Script, ContentSecurity template.HTML

	home home
}

// Parts of a page, by the names of their templates.
const (
	partSessions = "sessions"
	partMemories = "memories"
	partUsage    = "usage"
)

// Read reads all that a page shows.
func Read(ctx context.Context, src Source) (*Page, error) {
	return read(ctx, src, partSessions, partMemories, partUsage)
}

// read reads what some parts of a page show. Memories and usage name sessions, and sessions say what they used.
func read(ctx context.Context, src Source, parts ...string) (*Page, error) {
	p, used, err := readConversations(ctx, src, 0)
	p.Made = time.Now()
	if err == nil && slices.Contains(parts, partSessions) {
		p.Days, p.Timeline = days(p.byID), timeline(p.byID)
	}
	if err == nil && slices.Contains(parts, partMemories) {
		p.Memories, err = readMemories(ctx, src, &p.Conversations)
	}
	if err == nil && slices.Contains(parts, partUsage) {
		p.Usage, err = readUsage(ctx, src.DB, used, p.byID, p.home)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// readOne reads one session, without what others have to do with it; nil: it has nothing to show.
func readOne(ctx context.Context, src Source, id int64) (*Page, *Session, error) {
	p, _, err := readConversations(ctx, src, id)
	p.Live = true
	return p, p.byID[id], err
}

// readConversations begins a page with its sessions; only, where not 0, is the one to read.
func readConversations(ctx context.Context, src Source, only int64) (*Page, *telemetry.Usage, error) {
	p := &Page{About: src.About}
	dir, _ := os.UserHomeDir()
	p.home = home(dir)
	used, err := telemetry.ReadUsage(ctx, src.DB, telemetry.Scope{Session: only})
	if err == nil {
		err = p.Conversations.read(ctx, src, used, only)
	}
	if err == nil {
		err = p.readAsked(ctx, src)
	}
	return p, used, err
}

// writePart writes what one of the templates makes of data.
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

// element is the page's own style or script, the only one that may be: policy names its hash.
func element(name, text string) template.HTML {
	return template.HTML("<" + name + ">" + text + "</" + name + ">")
}

// policy allows a page nothing but its one style and its one script. A live one may also ask who serves it.
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

// template reads the templates. They are read when a page is made: a relay needs none.
func (p *Page) template() (*template.Template, error) {
	t := template.New("page").Funcs(template.FuncMap{
		"day":     func(t time.Time) string { return t.Local().Format("Monday, 2 January 2006") },
		"date":    func(t time.Time) string { return t.Local().Format("2 January 2006") },
		"clock":   func(t time.Time) string { return t.Local().Format("15:04") },
		"moment":  func(t time.Time) string { return t.Local().Format("2 January 2006, 15:04") },
		"stamp":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"took":    took,
		"short":   p.home.short,
		"count":   count,
		"figure":  func(n int) string { return telemetry.Figure(int64(n)) },
		"project": p.home.project,
		"harness": harnessName,
		"chunks":  func(all []*Memory) [][]*Memory { return slices.Collect(slices.Chunk(all, laidOut)) },
		"sub":     func(a, b int) int { return a - b },
		"on":      func(s *Session) sessionOn { return sessionOn{s, p} },
		"memory":  func(m *Memory) memoryOn { return memoryOn{m, p} },
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
		// each end of a line would be a node for the browser: of ten thousand turns, hundreds of thousands
		if t, err = t.New(path.Base(name)).Parse(strings.ReplaceAll(string(text), "\n", "")); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// What a template of one of many is given: the one, and the page that it is on.
type (
	sessionOn struct {
		*Session
		Page *Page
	}
	memoryOn struct {
		*Memory
		Page *Page
	}
)

// laidOut is how many memories a browser lays out at a time: what is far from the screen it leaves for later.
const laidOut = 100
