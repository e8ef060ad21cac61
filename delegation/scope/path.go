package scope

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// A pattern is a path or glob, cut into its elements. It also covers everything below it.
type pattern []string

const anything = "**"

// readPath reads an item as a path or glob: text in quotes, or a single word. sure says that it can be nothing else,
// because it has a slash, a wildcard or a file extension.
func readPath(item string) (name string, sure, ok bool) {
	quoted := len(item) > 2 && strings.ContainsRune("\"'`", rune(item[0])) && item[len(item)-1] == item[0]
	if quoted {
		item = item[1 : len(item)-1]
	}
	item = strings.ReplaceAll(item, `\`, "/")
	if item == "" || !quoted && strings.ContainsFunc(item, unicode.IsSpace) {
		return "", false, false
	}
	return item, strings.ContainsAny(item, "/*?[") || item == "." || item == ".." || hasEnding(item), true
}

// hasEnding reports whether a word has a file extension: heron.go, .env, but not v1.2 and e.g.
func hasEnding(word string) bool {
	ending := path.Ext(word)
	if len(ending) < 2 || len(ending) > 9 || !unicode.IsLetter(rune(ending[1])) {
		return false
	}
	odd := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return !strings.ContainsFunc(ending[1:], odd) && strings.Count(word, ".")*2 < len(word)
}

// newPattern makes the pattern of a path, relative to the folder dir, with symbolic links followed in the part before
// the first wildcard.
func newPattern(name, dir string, follow func(string) string) pattern {
	for _, below := range []string{"/...", "/**/*", "/**"} {
		name = strings.TrimSuffix(name, below)
	}
	if !path.IsAbs(name) {
		name = path.Join("/", dir, name)
	}
	name = path.Clean(name)
	plain, wild := name, ""
	if at := strings.IndexAny(name, "*?["); at >= 0 {
		at = strings.LastIndexByte(name[:at], '/')
		plain, wild = name[:at], name[at:]
	}
	if follow != nil && plain != "" {
		plain = follow(plain)
	}
	return slices.DeleteFunc(strings.Split(plain+wild, "/"), func(e string) bool { return e == "" })
}

// covers reports whether all that q covers is covered by p. Where that cannot be told it is false.
func (p pattern) covers(q pattern) bool {
	switch {
	case len(p) == 0:
		return true
	case p[0] == anything:
		return p[1:].covers(q) || len(q) > 0 && p.covers(q[1:])
	case len(q) == 0 || q[0] == anything:
		return false
	}
	return elementCovers(p[0], q[0]) && p[1:].covers(q[1:])
}

// elementCovers does the same for one element.
func elementCovers(p, q string) bool {
	if p == q || p == "*" {
		return true
	}
	if !strings.ContainsAny(q, "*?[") {
		ok, _ := path.Match(p, q) // a malformed pattern covers nothing
		return ok
	}
	begin, end, single := strings.Cut(p, "*")
	if !single || strings.ContainsAny(begin+end, `*?[\`) {
		return false
	}
	first, last := strings.IndexAny(q, "*?["), strings.LastIndexAny(q, "*?]")
	return strings.HasPrefix(q[:first], begin) && strings.HasSuffix(q[last+1:], end)
}
