package privacy

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// separator is what stands between a name and its value: a quote that closes the name, an operator or "is", perhaps a
// type. The groups are the operator, the type, and the quote that opens the value.
var separator = pattern.New("^(?:\\\\?[\"'`]|%22)?\\]?\\s{0,4}(?:[A-Za-z.]{1,20}\\s{1,3})??((?::{1,3}|[?.+|])?={1,3}>?|:|\\|\\||>|,|%3[AaDd]|\\s(?:is|was|ist)\\s*:?)\\s*(?:([A-Za-z.]{1,20})\\s*=\\s*)?(\\\\?[\"'`]|%22)?")

// assigned looks for the value that follows the name n, and adds it if it is a secret.
func (f *findings) assigned(text string, n name) {
	if f.tabled(text, n) {
		return
	}
	rest := text[n.end:min(len(text), n.end+maxValue)]
	l, ok := linkBehind(text, n, rest)
	if !ok || !l.assigns(text, n, rest) {
		return
	}
	value, closed, ok := l.value(rest[l.size:])
	if !closed && n.end+maxValue > len(text) { // more text may belong to it
		f.wait(n.start, l.quote)
	}
	start, isLine := n.end+l.size, false
	if l.operator == ":" && l.quote == "" {
		if scalar, at := blockScalar(text, n.end); at > 0 {
			value, start, isLine = scalar, at, true
		} else if value != "" {
			isLine = f.inYAML(text, n.start)
		}
	}
	if a := (assignment{n, value, l.quote != "", l.operator, isLine}); ok && a.isSecret() {
		f.addNamed(start, start+len(value), a.kind())
	}
}

// A link is what stands between a name and its value.
type link struct {
	before   byte   // what stands before the name
	operator string // "" behind a flag
	quote    string // that opens the value
	size     int    // bytes from the name to the value
}

func linkBehind(text string, n name, rest string) (l link, ok bool) {
	if n.start > 0 {
		l.before = text[n.start-1]
	}
	isFlag := strings.HasPrefix(text[n.start:], "--")
	at := separator().FindStringSubmatchIndex(rest)
	switch {
	case at != nil:
		l.operator, l.size = strings.TrimSpace(rest[at[2]:at[3]]), at[1]
		if at[6] >= 0 {
			l.quote = rest[at[6]:at[7]]
		}
	case isFlag && strings.HasPrefix(rest, " "):
		l.size = 1
	default:
		return l, false
	}
	if isFlag && l.quote == "" && l.size < len(rest) && strings.IndexByte("\"'", rest[l.size]) >= 0 {
		l.quote = rest[l.size : l.size+1]
		l.size++
	}
	return l, true
}

// assigns reports whether a link means that the name is given a value.
func (l link) assigns(text string, n name, rest string) bool {
	switch {
	case l.before == '{' && n.start > 1 && text[n.start-2] == '$', // ${NAME:-default}
		l.before == ':' && l.operator == ":", // a part of a resource name
		l.before != '<' && l.operator == ">", // not an XML element
		text[n.start:n.end] == "PASS" && testRunner(rest):
		return false
	case l.operator == ",": // the next argument of a call, on the same line: prose has commas, too
		return l.quote != "" && l.quote != "`" && strings.IndexByte("\"'", rest[0]) >= 0 &&
			!strings.Contains(rest[:l.size], "\n")
	}
	return true
}

// value returns the value at the start of s. closed: its end is seen. ok is false where it is none.
func (l link) value(s string) (value string, closed, ok bool) {
	if l.quote != "" {
		value, _, closed = strings.Cut(s, l.quote)
		return value, closed, true
	}
	value = unquoted(s, l.before == '?' || l.before == '&')
	if strings.HasPrefix(l.operator, "%") {
		value, _, _ = strings.Cut(value, "%")
	}
	if l.operator != ">" {
		return value, true, true
	}
	after := strings.TrimLeft(s[len(value):], " \t\r\n")
	return value, len(after) >= 2, strings.HasPrefix(after, "</")
}

// testRunner reports whether PASS is what a test runner prints.
func testRunner(rest string) bool {
	return !strings.HasPrefix(rest, "=") || strings.Contains(rest, "PASS")
}

// unquoted returns the value at the start of s, up to white space, a quote, an angle bracket, or what separates it from
// the next assignment; with query, also to the end of a URL's parameter.
func unquoted(s string, query bool) string {
	stop := "\"'`<> \t\r\n;"
	if query {
		stop += "&#"
	}
	if end := strings.IndexAny(s, stop); end >= 0 {
		s = s[:end]
	}
	if end := strings.Index(s, "\\n"); end >= 0 {
		s = s[:end]
	}
	if end := strings.IndexByte(s, ','); end >= 0 && strings.IndexByte(s[end:], '=') > 0 {
		s = s[:end]
	}
	return strings.TrimRight(s, ".,:)]}")
}

// variable looks for what Terraform gives to a secret-like variable when nobody sets it.
func (f *findings) variable(text string, at int) {
	m := variableDefault().FindStringSubmatchIndex(text[at:min(len(text), at+maxValue)])
	if m == nil {
		return
	}
	n, ok := secretName(text[at+m[2]:at+m[3]], "")
	if v := (assignment{n, text[at+m[4] : at+m[5]], true, "=", false}); ok && v.isSecret() {
		f.addNamed(at+m[4], at+m[5], v.kind())
	}
}

var variableDefault = pattern.New(`^variable\s+"([^"]{1,80})"\s*\{[^{}]{0,400}?\bdefault\s*=\s*"([^"\n]{4,})"`)

// name looks for a secret-like name and its value where one of the roots stands.
func (f *findings) name(text string, at int) {
	if at < f.nameEnd {
		return
	}
	start, end := at, at
	for start > 0 && at-start <= maxName && inName(text[start-1]) {
		start--
	}
	for end < len(text) && end-start <= maxName && inName(text[end]) {
		end++
	}
	f.nameEnd = end
	word, before := text[start:end], ""
	if p := plainName(word); p == "key" || p == "phrase" {
		before = nameBehind(text, start)
	}
	if n, ok := secretName(word, before); ok {
		n.start, n.end = start, end
		f.assigned(text, n)
	}
}
