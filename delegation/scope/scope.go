// Package scope is the rule that a delegation must obey: whoever asks another agent for something says what that one
// answers for, and what stays with himself; and inside a delegation nothing can be handed on that was not received,
// nor all of it.
//
// The rule looks at words and paths, never at what they mean, so that the same request always has the same answer.
// Text in, verdict out: it knows no agents, no database, and of the disk only what Follow tells it.
package scope

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
)

// A Request is what one agent wants another to answer for.
type Request struct {
	Delegated string // items, one a line or between semicolons: what the other is responsible for
	Kept      string // what stays with who asks
	Caller    string // what who asks was himself given; "": a person or an agent that nobody delegated to

	Dir string // the folder from which relative paths are seen, with slashes
	// Follow gives an absolute path with its symbolic links followed as far as it exists. If nil, there are none.
	Follow func(path string) string
}

const (
	mostItems = 100
	mostBytes = 16 << 10
)

// Check gives nil or a refusal, which says what to write instead.
func (r Request) Check() error {
	delegated, kept, caller, err := r.read()
	switch {
	case err != nil:
		return err
	case !delegated.says():
		return errors.New("delegated_scope says nothing: write what the other agent is responsible for, one item a " +
			"line, such as proxy/frame or tests of the parser")
	case !kept.says():
		return errors.New("kept_work says nothing: write what you go on doing yourself, one item a line; if " +
			"nothing is left for you, do not delegate but do it")
	case kept.within(delegated):
		return fmt.Errorf("kept_work names nothing that is not delegated as well: write what stays with you in "+
			"words or paths that delegated_scope does not have (it has %s), or narrow delegated_scope", delegated)
	case len(caller) == 0:
		return nil
	}
	for _, one := range delegated {
		if !caller.take(one) {
			return fmt.Errorf("%q is no part of what was delegated to you: write a path below, or only words of, "+
				"one of your own items: %s", chars.Cut(one.text, 80), caller)
		}
	}
	if !caller.left(delegated, kept) {
		return fmt.Errorf("nothing of what was delegated to you is left with you: take at least one item or word "+
			"of it (%s) out of delegated_scope and name it in kept_work", caller)
	}
	return nil
}

// Items gives the items of a field, as they are to be shown.
func Items(field string) []string {
	var list []string
	ends := func(r rune) bool { return r == '\n' || r == '\r' || r == ';' }
	for _, line := range strings.FieldsFunc(visible(field), ends) {
		line = strings.TrimSpace(line)
		if rest, ok := cutBullet(line); ok {
			line = strings.TrimSpace(rest)
		}
		if line != "" {
			list = append(list, line)
		}
	}
	return list
}

// visible takes out what no reader sees and what would make two words of one.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

// cutBullet cuts the sign off by which lists are written.
func cutBullet(line string) (string, bool) {
	for _, sign := range []string{"- ", "* ", "+ ", "• "} {
		if rest, ok := strings.CutPrefix(line, sign); ok {
			return rest, true
		}
	}
	return line, false
}

// An item is one line of a field.
type item struct {
	text  string
	words []string
	path  pattern  // nil: it can be none
	name  []string // of a path: the words of its last element, which it cannot be spoken of without
	sure  bool     // it is a path, and not a word that could be the name of a folder
	out   bool     // a path that lies outside of the folder, where no word leads
}

// says reports whether the item has content: a word, or a file's ending.
func (i item) says() bool {
	return len(i.words) > 0 || len(i.path) > 0 && hasEnding(i.path[len(i.path)-1])
}

// A field is the items of one.
type field []item

func (r Request) read() (delegated, kept, caller field, err error) {
	var fields [3]field
	var texts []string
	for n, text := range []string{r.Delegated, r.Kept, r.Caller} {
		if len(text) > mostBytes {
			return nil, nil, nil, fmt.Errorf("a scope of %d bytes is too long: name the parts in at most %d", len(text),
				mostBytes)
		}
		for _, one := range Items(text) {
			i := item{text: one}
			words, last := one, ""
			name, sure, single := asPath(one)
			if nothing[language.Fold(strings.Trim(one, " .!-()"))] {
				words, single = "", false
			}
			if single {
				i.path, i.sure = newPattern(name, r.Dir, r.Follow), sure
				i.out = !newPattern("", r.Dir, r.Follow).holds(i.path)
				words, last = path.Clean(name), path.Base(path.Join("/", r.Dir, name))
			}
			fields[n] = append(fields[n], i)
			texts = append(texts, words, last)
		}
		if len(fields[n]) > mostItems {
			return nil, nil, nil, fmt.Errorf("a scope of %d items is too long: name at most %d", len(fields[n]),
				mostItems)
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

// nothing is how people say that there is nothing, in words that stand for something elsewhere.
var nothing = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range []string{"nothing", "none", "nil", "null", "n/a", "na", "tbd", "todo", "nothing else", "no work",
		"nichts", "keines", "rien", "nada", "niente", "niets", "ничего", "没有", "なし", "없음", "*", "all", "everything"} {
		m[language.Fold(w)] = true
	}
	return m
}()

// says reports whether any item has content.
func (f field) says() bool { return slices.ContainsFunc(f, item.says) }

// words are all of the field's.
func (f field) words() map[string]bool {
	m := map[string]bool{}
	for _, i := range f {
		for _, w := range i.words {
			m[w] = true
		}
	}
	return m
}

// within reports whether all that f names, other names too.
func (f field) within(other field) bool {
	words, spoken := other.words(), slices.DeleteFunc(slices.Clone(other), func(i item) bool { return i.sure }).words()
	return !slices.ContainsFunc(f, func(i item) bool {
		switch {
		case i.path != nil && other.coversPath(i.path):
			return false
		case i.sure: // beside the paths of the other
			return i.says() && (len(i.words) == 0 || !all(i.words, spoken))
		}
		return !all(i.words, words)
	})
}

// coversPath reports whether a path lies under one of the field's.
func (f field) coversPath(p pattern) bool {
	return slices.ContainsFunc(f, func(i item) bool { return i.path != nil && i.path.holds(p) })
}

// take reports whether an item is part of one of the field's.
func (f field) take(one item) bool {
	return slices.ContainsFunc(f, func(own item) bool {
		switch {
		case own.path != nil && one.path != nil && own.path.holds(one.path):
			return true
		case own.sure && one.sure, one.out, len(one.words) == 0, !all(one.words, field{own}.words()):
			return false
		}
		// A path is spoken of by its last element: the word proxy is more than proxy/frame.
		return !own.sure || len(own.name) > 0 && all(own.name, field{one}.words())
	})
}

// left reports whether something of what the caller has, f, is not delegated and is kept by name.
func (f field) left(delegated, kept field) bool {
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

// String names the items in a line, for an error.
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
