package view

import (
	"html/template"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// What agents say is set as Markdown; nothing of it loads, runs, or is lost.
func TestSet(t *testing.T) {
	long := strings.Repeat("g", maxMarkdown-10)
	for _, c := range []struct{ name, in, want string }{
		{"prose", "a *b* **c** `d`", "<p>a <em>b</em> <strong>c</strong> <code>d</code></p>"},
		{"lines", "a\nb", "<p>a<br>\nb</p>"},
		{"headings", "# a\n### b", "<h5>a</h5>\n<h5>b</h5>"},
		{"code", "```go\n\tif a < b {\n```", "<pre data-language=\"go\"><code>\tif a &lt; b {\n</code></pre>"},
		{"indented code", "a\n\n    b\n      c", "<p>a</p>\n<pre><code>b\n  c\n</code></pre>"},
		{"a fence that does not end", "```\na", "<pre><code>a\n</code></pre>"},
		{"a language that breaks out", "```\"><script>\na\n```",
			"<pre data-language=\"&#34;&gt;&lt;script&gt;\"><code>a\n</code></pre>"},
		{"a table", "|a|b|\n|-|-:|\n|c|d|", "<table>\n<thead>\n<tr>\n<th>a</th>\n<th align=\"right\">b</th>\n</tr>\n" +
			"</thead>\n<tbody>\n<tr>\n<td>c</td>\n<td align=\"right\">d</td>\n</tr>\n</tbody>\n</table>"},
		{"HTML", "<script>a</script>\n\n<div onclick=a>b <img src=x> c", "<p>&lt;script&gt;a&lt;/script&gt;</p>\n" +
			"<p>&lt;div onclick=a&gt;b &lt;img src=x&gt; c</p>"},
		{"a comment", "a <!-- b --> c", "<p>a &lt;!-- b --&gt; c</p>"},
		{"a link", "[a](https://b.example/?c=%22&d \"e\")", "<p><a rel=\"noopener noreferrer\" target=\"_blank\" " +
			"href=\"https://b.example/?c=%22&amp;d\" title=\"https://b.example/?c=%22&amp;d\">a</a></p>"},
		{"an address", "<https://b.example/>", "<p><a rel=\"noopener noreferrer\" target=\"_blank\" " +
			"href=\"https://b.example/\" title=\"https://b.example/\">https://b.example/</a></p>"},
		{"a link to a script", "[a](javascript:b)", "<p>a <code>javascript:b</code></p>"},
		{"in disguise", "[a](<JaVa&#115;cript:b>)", "<p>a <code>JaVa&amp;#115;cript:b</code></p>"},
		{"a script's address", "<javascript:b>", "<p>javascript:b <code>javascript:b</code></p>"},
		{"data", "[a](data:text/html,b)", "<p>a <code>data:text/html,b</code></p>"},
		{"a file", "[a](file:///etc/passwd)", "<p>a <code>file:///etc/passwd</code></p>"},
		{"no host", "[a](https:b)", "<p>a <code>https:b</code></p>"},
		{"a path", "[chart.go](chart.go:12)", "<p>chart.go <code>chart.go:12</code></p>"},
		{"another protocol", "[a](//b.example)", "<p>a <code>//b.example</code></p>"},
		{"this page", "[a](#s1)", "<p>a <code>#s1</code></p>"},
		{"a picture", "![a](https://b.example/c.png)", "<p><a rel=\"noopener noreferrer\" target=\"_blank\" " +
			"href=\"https://b.example/c.png\" title=\"https://b.example/c.png\">a</a></p>"},
		{"a picture of nothing", "![a](x onerror=b)", "<p>![a](x onerror=b)</p>"},
		{"a definition", "[a]\n\n[a]: https://b.example", "<p>[a]</p>\n<p>[a]: https://b.example</p>"},
		{"colours", "\x1b[31mred\x1b[0m \x1b]8;;https://b.example\x07c\x1b]8;;\x07 \x1b(Bd\x1b", "<p>red c d</p>"},
		{"no UTF-8", "a\xff\x00b", "<p>a\uFFFD\uFFFDb</p>"},
		{"bidi", "a \u202eb", "<p>a \u202eb</p>"},
		{"in pieces", "*a*\n\n- " + long + "\n\n  b\n\n*c*\n```\n*d*\n```\n- e\n\n  f", "<p><em>a</em></p>\n<ul>\n<li>\n<p>" + long +
			"</p>\n<p>b</p>\n</li>\n</ul>\n<p><em>c</em></p>\n<pre><code>*d*\n</code></pre>\n<ul>\n<li>\n<p>e</p>\n<p>f</p>\n" +
			"</li>\n</ul>"},
		{"many marks", strings.TrimSpace(strings.Repeat("*a*\n\n", maxMarks)),
			strings.TrimSpace(strings.Repeat("<p><em>a</em></p>\n", maxMarks))},
		{"a long word", long + long, "<p>" + long + strings.Repeat("g", 10) + "</p>\n<p>" + long[10:] + "</p>"},
	} {
		if got := strings.TrimSpace(string(excerpt{Body: c.in}.Set())); got != c.want {
			t.Errorf("%s:\n%.500s\nwant\n%.500s", c.name, got, c.want)
		}
	}
}

// What a person said stands as they typed it.
func TestAsTyped(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"prose", "  # a\n\n\n*b* <c> __init__.py", `<div class="said">  # a` + "\n\n\n*b* &lt;c&gt; __init__.py</div>"},
		{"code", "a\n```go\n\tb\n```\nc", `<div class="said">a</div><pre data-language="go"><code>` +
			"\tb\n</code></pre>\n" + `<div class="said">c</div>`},
		{"a longer fence", "~~~~\n```\n~~~\n~~~~", "<pre><code>```\n~~~\n</code></pre>\n"},
		{"a fence that does not end", "```\na", "<pre><code>a</code></pre>\n"},
		{"a word behind a fence", "```\na\n``` b\n```", "<pre><code>a\n``` b\n</code></pre>\n"},
		{"no fence", "```a``` b", "<div class=\"said\">```a``` b</div>"},
		{"nothing", "", ""},
	} {
		if got := string(excerpt{Body: c.in}.AsTyped()); got != c.want {
			t.Errorf("%s:\n%q\nwant\n%q", c.name, got, c.want)
		}
	}
}

func TestSearched(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "  ": "", "a b": "a,b", `a "b c" d`: "a,=b c,d", `"a b`: "=a b", `""`: "",
		strings.Repeat("a ", 20): strings.TrimSuffix(strings.Repeat("a,", maxWords), ","),
	} {
		var got []string
		for _, w := range searched(in) {
			if w.exact {
				w.text = "=" + w.text
			}
			got = append(got, w.text)
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// shown are the elements that a text may become, with their attributes.
var shown = map[string]string{"p": "", "br": "", "hr": "", "em": "", "strong": "", "del": "", "code": "", "h5": "", "ul": "",
	"ol": "start", "li": "", "blockquote": "", "table": "", "thead": "", "tbody": "", "tr": "", "th": "align",
	"td": "align", "div": "class", "pre": "data-language", "a": "rel target href title"}

// Whatever is said, the page has nothing of it but harmless elements, each closed, and links to the web.
func FuzzSet(f *testing.F) {
	for _, text := range []string{"# a\n\n- [b](https://c.example) *d* ~~e~~\n\n> f\n\n|g|h|\n|-|:-|\n|i|`j`|\n\n```k\n<l>\n```\n",
		"<a href=javascript:b>", "[a](javascript:b \"c\") ![d](data:e) <https://f.example/\">", "1. a\n\n   ~~~\n   b\n2) c\n***"} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, long bool) {
		if long {
			text += "\n\n" + strings.Repeat("g", maxMarkdown) + "\n\n" + text
		}
		for _, set := range []template.HTML{excerpt{Body: text}.Set(), excerpt{Body: text}.AsTyped()} {
			var open []string
			tokens := html.NewTokenizer(strings.NewReader(string(set)))
			for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
				one := tokens.Token()
				switch kind {
				case html.StartTagToken:
					attributes, known := shown[one.Data]
					if !known {
						t.Fatalf("<%s> in %.300q", one.Data, set)
					}
					for _, a := range one.Attr {
						if !slices.Contains(strings.Fields(attributes), a.Key) || a.Key == "href" && !isWeb(a.Val) {
							t.Fatalf("%s=%q in <%s>", a.Key, a.Val, one.Data)
						}
					}
					if one.Data != "br" && one.Data != "hr" {
						open = append(open, one.Data)
					}
				case html.EndTagToken:
					if len(open) == 0 || open[len(open)-1] != one.Data {
						t.Fatalf("</%s> within %v", one.Data, open)
					}
					open = open[:len(open)-1]
				case html.CommentToken, html.DoctypeToken, html.SelfClosingTagToken:
					t.Fatalf("%s in %.300q", one, set)
				}
			}
			if len(open) > 0 {
				t.Fatalf("%v is not closed in %.300q", open, set)
			}
		}
	})
}
