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
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// A Page is what the templates are given.
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

// read reads what some parts of a page show. Sessions are read in any case: memories and usage refer to them.
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
		p.Usage, err = readUsage(ctx, src.Sessions, used, p.byID, p.home)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// readOne reads one session, without links to others; nil: it has nothing to show.
func readOne(ctx context.Context, src Source, id int64) (*Page, *Session, error) {
	p, _, err := readConversations(ctx, src, id)
	p.Live = true
	return p, p.byID[id], err
}

// readConversations makes a page with its sessions; only, if not 0, is the one to read.
func readConversations(ctx context.Context, src Source, only int64) (*Page, *telemetry.Usage, error) {
	p := &Page{About: src.About}
	dir, _ := os.UserHomeDir()
	p.home = home(dir)
	used, err := telemetry.ReadUsage(ctx, src.Sessions, correlation.Scope{Session: only})
	if err == nil {
		err = p.Conversations.read(ctx, src, used, only)
	}
	if err == nil {
		err = p.readDelegations(ctx, src)
	}
	return p, used, err
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

// element gives the page's style or script as an HTML element. policy allows no other, by its hash.
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
		// each line end would be a node in the browser's document: with ten thousand turns, hundreds of thousands
		if t, err = t.New(path.Base(name)).Parse(strings.ReplaceAll(string(text), "\n", "")); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// sessionOn and memoryOn are one session or memory together with the page that it is on, for templates that need both.
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

// laidOut is how many memories make a chunk of the page: a browser lays chunks out only when they come near the screen.
const laidOut = 100
