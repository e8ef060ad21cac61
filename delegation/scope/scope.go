// Package scope is the rule that a delegation must obey: whoever asks another agent for something names what that one
// is responsible for, and what stays with the caller; and inside a delegation only a part of what was received can be
// handed on.
//
// The rule looks at words and paths, never at their meaning, so that the same request always gets the same answer. Text
// in, verdict out: it knows no agents, no database, and of the disk only what Follow tells it.
package scope

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
)

// A Request is what one agent wants another to be responsible for.
type Request struct {
	Delegated string // items, one a line or between semicolons: what the other is responsible for
	Kept      string // what stays with the caller
	Caller    string // what the caller itself was given; "": a person, or an agent that nobody delegated to

	Dir string // the folder that relative paths start from, with slashes
	// Follow resolves the symbolic links of an absolute path as far as it exists. If nil, there are none.
	Follow func(path string) string
}

const (
	maxItems = 100      // of a field
	maxBytes = 16 << 10 // of a field
)

// Check returns nil or a refusal, whose text tells the caller what to write instead.
func (r Request) Check() error {
	delegated, kept, caller, err := r.read()
	switch {
	case err != nil:
		return err
	case !delegated.hasContent():
		return errors.New("delegated_scope is empty: write the other agent's part, one item per " +
			"line, such as proxy/frame or tests of the parser")
	case !kept.hasContent():
		return errors.New("kept_work is empty: write your own part, one item per line, such as " +
			"\"the release notes\" and not \"all else\"; if nothing is left for you, do the work yourself")
	case kept.isWithin(delegated):
		return fmt.Errorf("kept_work names nothing of your own: write your part in "+
			"words or paths that delegated_scope does not have (it has %s), or narrow delegated_scope", delegated)
	case len(caller) == 0:
		return nil
	}
	for _, one := range delegated {
		if !caller.contains(one) {
			return fmt.Errorf("%q is outside your own scope: write a path below, or only words of, "+
				"one of your own items: %s", chars.Cut(one.text, 80), caller)
		}
	}
	if !caller.leaves(delegated, kept) {
		return fmt.Errorf("you would keep nothing of your own scope: take at least one item or word "+
			"of it (%s) out of delegated_scope and name it in kept_work", caller)
	}
	return nil
}

// bullets stand before the items of a list.
var bullets = []string{"-", "*", "+", "•"}

// Items returns the items of a field, for people to read.
func Items(field string) []string {
	var list []string
	ends := func(r rune) bool { return r == '\n' || r == '\r' || r == ';' }
	for _, line := range strings.FieldsFunc(visible(field), ends) {
		line = strings.TrimSpace(line)
		if bullet, rest, ok := strings.Cut(line, " "); ok && slices.Contains(bullets, bullet) {
			line = strings.TrimSpace(rest)
		}
		if line != "" {
			list = append(list, line)
		}
	}
	return list
}

// visible removes invisible characters, which would make two words of one.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

// An item is one line of a field.
type item struct {
	text       string
	words      []string
	path       pattern  // nil: it cannot be a path
	name       []string // the words of a path's last element, without which no words mean the path
	surelyPath bool     // it is a path, and not a word that may also name a folder
	outside    bool     // a path outside of the folder, which no word can mean
}

// hasContent reports whether the item has a word or a file extension.
func (i item) hasContent() bool {
	return len(i.words) > 0 || len(i.path) > 0 && hasEnding(i.path[len(i.path)-1])
}

// A field is the list of items of one field of the request.
type field []item

func (r Request) read() (delegated, kept, caller field, err error) {
	var fields [3]field
	var texts []string
	for n, text := range []string{r.Delegated, r.Kept, r.Caller} {
		if len(text) > maxBytes {
			return nil, nil, nil, fmt.Errorf("a scope of %d bytes is too long: name the parts in at most %d", len(text),
				maxBytes)
		}
		for _, one := range Items(text) {
			i := item{text: one}
			words, last := one, ""
			name, sure, single := readPath(one)
			if sayNothing()[language.Fold(strings.Trim(one, " .!-()"))] {
				words, single = "", false
			}
			if single {
				i.path, i.surelyPath = newPattern(name, r.Dir, r.Follow), sure
				i.outside = !newPattern("", r.Dir, r.Follow).covers(i.path)
				words, last = path.Clean(name), path.Base(path.Join("/", r.Dir, name))
			}
			fields[n] = append(fields[n], i)
			texts = append(texts, words, last)
		}
		if len(fields[n]) > maxItems {
			return nil, nil, nil, fmt.Errorf("a scope of %d items is too long: name at most %d", len(fields[n]),
				maxItems)
		}
	}
	content := language.Content(texts...)
	for n := range fields {
		for i := range fields[n] {
			fields[n][i].words, fields[n][i].name = content[0], content[1]
			content = content[2:]
		}
	}
	return fields[0], fields[1], fields[2], nil
}

// sayNothing are ways to say that there is nothing, with words that mean something elsewhere.
var sayNothing = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, w := range []string{"nothing", "none", "nil", "null", "n/a", "na", "tbd", "todo", "nothing else", "no work",
		"nichts", "keines", "rien", "nada", "niente", "niets", "ничего", "没有", "なし", "없음", "*", "all", "everything"} {
		m[language.Fold(w)] = true
	}
	return m
})

// hasContent reports whether any item has content.
func (f field) hasContent() bool { return slices.ContainsFunc(f, item.hasContent) }

// words returns the words of all items.
func (f field) words() map[string]bool {
	m := map[string]bool{}
	for _, i := range f {
		for _, w := range i.words {
			m[w] = true
		}
	}
	return m
}

// isWithin reports whether other names all that f names.
func (f field) isWithin(other field) bool {
	words := other.words()
	spoken := slices.DeleteFunc(slices.Clone(other), func(i item) bool { return i.surelyPath }).words() // not paths
	return !slices.ContainsFunc(f, func(i item) bool {
		switch {
		case i.path != nil && other.coversPath(i.path):
			return false
		case i.surelyPath: // not below a path of the other
			return i.hasContent() && (len(i.words) == 0 || !all(i.words, spoken))
		}
		return !all(i.words, words)
	})
}

// coversPath reports whether one of the items covers a path.
func (f field) coversPath(p pattern) bool {
	return slices.ContainsFunc(f, func(i item) bool { return i.path != nil && i.path.covers(p) })
}

// contains reports whether an item is a part of one of the field's items.
func (f field) contains(one item) bool {
	return slices.ContainsFunc(f, func(own item) bool {
		switch {
		case own.path != nil && one.path != nil && own.path.covers(one.path):
			return true
		case own.surelyPath && one.surelyPath, one.outside, len(one.words) == 0, !all(one.words, field{own}.words()):
			return false
		}
		// Words mean a path only if they have those of its last element: proxy is more than proxy/frame.
		return !own.surelyPath || len(own.name) > 0 && all(own.name, field{one}.words())
	})
}

// leaves reports whether something of f, which the caller has, is not delegated and is named as kept.
func (f field) leaves(delegated, kept field) bool {
	gone, named := delegated.words(), kept.words()
	for w := range f.words() {
		if named[w] && !gone[w] {
			return true
		}
	}
	return slices.ContainsFunc(kept, func(k item) bool {
		return k.path != nil && f.coversPath(k.path) && !delegated.coversPath(k.path)
	})
}

// String returns the items on one line, for an error.
func (f field) String() string {
	var list []string
	for _, i := range f {
		list = append(list, i.text)
	}
	return chars.Cut(strings.Join(list, "; "), 300)
}

func all(words []string, in map[string]bool) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !in[w] })
}
