package view

import (
	"bufio"
	"bytes"
	"html"
	"html/template"
	"net/url"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	markup "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

const (
	maxMarkdown = 16 << 10 // set as Markdown at once; a longer answer is set in pieces
	// Goldmark takes time with the square of what is nested in a piece, and of what is marked in a paragraph: beyond
	// these it is text.
	maxNested = 50
	maxMarks  = 500
)

// markdown sets what agents say; few processes need it. HTML in it is text. Definitions of links stay in sight,
// pictures become links, and only links to the web can be followed.
var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(
				util.Prioritized(parser.NewSetextHeadingParser(), 100),
				util.Prioritized(parser.NewThematicBreakParser(), 200),
				util.Prioritized(nested{parser.NewListParser()}, 300),
				util.Prioritized(parser.NewListItemParser(), 400),
				util.Prioritized(parser.NewCodeBlockParser(), 500),
				util.Prioritized(parser.NewATXHeadingParser(), 600),
				util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
				util.Prioritized(nested{parser.NewBlockquoteParser()}, 800),
				util.Prioritized(parser.NewParagraphParser(), 1000)),
			parser.WithInlineParsers(
				util.Prioritized(parser.NewCodeSpanParser(), 100),
				util.Prioritized(marks{parser.NewLinkParser()}, 200),
				util.Prioritized(parser.NewAutoLinkParser(), 300),
				util.Prioritized(marks{parser.NewEmphasisParser()}, 500),
				util.Prioritized(marks{extension.NewStrikethroughParser()}, 500)),
		)),
		goldmark.WithExtensions(
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithRendererOptions(markup.WithHardWraps(), renderer.WithNodeRenderers(util.Prioritized(pieces{}, 1),
			util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500))),
	)
})

// nested opens no block in more than maxNested others.
type nested struct{ parser.BlockParser }

// Open implements parser.BlockParser.
func (n nested) Open(in ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for outer := in; outer != nil; outer = outer.Parent() {
		depth++
	}
	if depth > maxNested {
		return nil, parser.NoChildren
	}
	return n.BlockParser.Open(in, r, pc)
}

// marks sees at most maxMarks in a paragraph, with the others of its kind.
type marks struct{ parser.InlineParser }

var marked = parser.NewContextKey() // how many were seen

// Parse implements parser.InlineParser.
func (m marks) Parse(in ast.Node, r text.Reader, pc parser.Context) ast.Node {
	n, _ := pc.Get(marked).(int)
	if n == maxMarks {
		return nil
	}
	pc.Set(marked, n+1)
	return m.InlineParser.Parse(in, r, pc)
}

// CloseBlock implements parser.CloseBlocker.
func (m marks) CloseBlock(in ast.Node, r text.Reader, pc parser.Context) {
	pc.Set(marked, 0)
	if inner, ok := m.InlineParser.(parser.CloseBlocker); ok {
		inner.CloseBlock(in, r, pc)
	}
}

// pieces writes the elements of Markdown that the page has in its own way.
type pieces struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (p pieces) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindLink, func(w util.BufWriter, _ []byte, n ast.Node, in bool) (ast.WalkStatus, error) {
		return p.link(w, string(n.(*ast.Link).Destination), in), nil
	})
	r.Register(ast.KindImage, func(w util.BufWriter, _ []byte, n ast.Node, in bool) (ast.WalkStatus, error) {
		return p.link(w, string(n.(*ast.Image).Destination), in), nil
	})
	r.Register(ast.KindAutoLink, func(w util.BufWriter, src []byte, n ast.Node, in bool) (ast.WalkStatus, error) {
		if in {
			to := string(n.(*ast.AutoLink).Label(src))
			p.link(w, to, true)
			_, _ = w.WriteString(html.EscapeString(to))
			p.link(w, to, false)
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindHeading, func(w util.BufWriter, _ []byte, n ast.Node, in bool) (ast.WalkStatus, error) {
		tag := "<h5>" // below who said it, whatever its level
		if !in {
			tag = "</h5>\n"
		}
		_, _ = w.WriteString(tag)
		return ast.WalkContinue, nil
	})
	code := func(w util.BufWriter, src []byte, n ast.Node, in bool) (ast.WalkStatus, error) {
		if in {
			language := ""
			if fenced, ok := n.(*ast.FencedCodeBlock); ok {
				language = string(fenced.Language(src))
			}
			p.code(w, language, string(n.Lines().Value(src)))
		}
		return ast.WalkSkipChildren, nil
	}
	r.Register(ast.KindFencedCodeBlock, code)
	r.Register(ast.KindCodeBlock, code)
}

// link begins or ends a link. One that does not lead to the web is text with its target behind it.
func (pieces) link(w util.BufWriter, to string, begins bool) ast.WalkStatus {
	web := isWeb(to)
	switch {
	case web && begins:
		_, _ = w.WriteString(`<a rel="noopener noreferrer" target="_blank" href="` + html.EscapeString(to) +
			`" title="` + html.EscapeString(to) + `">`)
	case web:
		_, _ = w.WriteString(`</a>`)
	case !begins:
		_, _ = w.WriteString(` <code>` + html.EscapeString(to) + `</code>`)
	}
	return ast.WalkContinue
}

// isWeb reports whether an address is one of the web, in full.
func isWeb(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// code writes a block of code.
func (pieces) code(w util.BufWriter, language, text string) {
	_, _ = w.WriteString(`<pre`)
	if language != "" {
		_, _ = w.WriteString(` data-language="` + html.EscapeString(language) + `"`)
	}
	_, _ = w.WriteString(`><code>` + html.EscapeString(text) + `</code></pre>` + "\n")
}

// colours finds what tells a terminal what to do.
var colours = pattern.New(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[()][0-9A-Za-z]|.)?`)

// plain takes a terminal's orders out of a text.
func plain(text string) string {
	if strings.Contains(text, "\x1b") {
		text = colours().ReplaceAllString(text, "")
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Set returns what an agent said, set as Markdown.
func (t excerpt) Set() template.HTML {
	body := plain(t.Body)
	if len(body) <= maxMarkdown {
		return template.HTML(setMarkdown(body))
	}
	return template.HTML(byFences(body, func(prose string) string {
		var out strings.Builder
		for prose != "" {
			piece := firstPiece(prose)
			out.WriteString(setMarkdown(piece))
			prose = prose[len(piece):]
		}
		return out.String()
	}))
}

// firstPiece is what is set at once of a text: whole paragraphs or, where one is longer, whole lines.
func firstPiece(text string) string {
	piece := chars.Cut(text, maxMarkdown)
	if len(piece) == len(text) {
		return piece
	}
	if ends := paragraphEnd().FindAllStringIndex(piece, -1); ends != nil {
		return piece[:ends[len(ends)-1][1]-1]
	}
	if end := strings.LastIndexByte(piece, '\n'); end >= 0 {
		return piece[:end+1]
	}
	return piece
}

// paragraphEnd ends with what begins a paragraph. What is indented may go on with a list.
var paragraphEnd = pattern.New(`\n\n\S`)

func setMarkdown(text string) string {
	var b bytes.Buffer
	if err := markdown().Convert([]byte(text), &b); err != nil {
		return verbatim(text)
	}
	return b.String()
}

// AsTyped returns what a person said: as they typed it, blocks of code in a fixed font.
func (t excerpt) AsTyped() template.HTML { return template.HTML(byFences(plain(t.Body), verbatim)) }

// verbatim sets a text as it is.
func verbatim(text string) string {
	return `<div class="said">` + html.EscapeString(strings.Trim(text, "\n")) + `</div>`
}

// byFences sets blocks of code, and has prose set what stands between them.
func byFences(body string, prose func(string) string) string {
	var out strings.Builder
	w := bufio.NewWriter(&out)
	var lines []string
	fence, language := "", ""
	flush := func(isCode bool) {
		text := strings.Join(lines, "")
		lines = lines[:0]
		switch {
		case isCode:
			pieces{}.code(w, language, text)
		case strings.TrimSpace(text) != "":
			_, _ = w.WriteString(prose(text))
		}
	}
	for line := range strings.Lines(body) {
		bare := strings.TrimSpace(line)
		opens := fence == "" && (strings.HasPrefix(bare, "```") && !strings.Contains(bare[3:], "`") ||
			strings.HasPrefix(bare, "~~~"))
		closes := fence != "" && strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == ""
		switch {
		case opens:
			flush(false)
			rest := strings.TrimLeft(bare, bare[:1])
			fence, language = bare[:len(bare)-len(rest)], strings.TrimSpace(rest)
		case closes:
			flush(true)
			fence = ""
		default:
			lines = append(lines, line)
		}
	}
	flush(fence != "")
	_ = w.Flush() // a builder takes all
	return out.String()
}
