package scope

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// A pattern is a path or glob, cut into its elements, and stands for all that lies below it too.
type pattern []string

const anything = "**"

// asPath reads an item as a path or glob: text in quotes or a single word. It is surely one where it has a slash, a
// wildcard or an ending.
func asPath(item string) (name string, sure, ok bool) {
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

// hasEnding reports whether a word ends as files do: heron.go, .gitignore, but not v1.2 and e.g.
func hasEnding(word string) bool {
	ending := path.Ext(word)
	if len(ending) < 2 || len(ending) > 9 || !unicode.IsLetter(rune(ending[1])) {
		return false
	}
	odd := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return !strings.ContainsFunc(ending[1:], odd) && strings.Count(word, ".")*2 < len(word)
}

// newPattern takes a path apart, seen from the folder dir, with the links in it followed as far as it has no wildcard.
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

// holds reports whether all that q stands for lies under p. Where that cannot be told it is false.
func (p pattern) holds(q pattern) bool {
	switch {
	case len(p) == 0:
		return true
	case p[0] == anything:
		return p[1:].holds(q) || len(q) > 0 && p.holds(q[1:])
	case len(q) == 0 || q[0] == anything:
		return false
	}
	return elementHolds(p[0], q[0]) && p[1:].holds(q[1:])
}

// elementHolds does the same for one element.
func elementHolds(p, q string) bool {
	if p == q || p == "*" {
		return true
	}
	if !strings.ContainsAny(q, "*?[") {
		ok, err := path.Match(p, q)
		return ok && err == nil
	}
	begin, end, single := strings.Cut(p, "*")
	if !single || strings.ContainsAny(begin+end, `*?[\`) {
		return false
	}
	first, last := strings.IndexAny(q, "*?["), strings.LastIndexAny(q, "*?]")
	return strings.HasPrefix(q[:first], begin) && strings.HasSuffix(q[last+1:], end)
}
