package embedded

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDistil(t *testing.T) {
	type expectation struct {
		keep, personal bool
		text           string
	}
	type turn struct {
		name, user, assistant string
		expect                []expectation
	}
	var turns []turn
	var side *string
	for _, line := range readLines(t, "testdata/distil.txt") {
		if name, ok := strings.CutPrefix(line, "== "); ok {
			turns = append(turns, turn{name: name})
			continue
		}
		if len(turns) == 0 {
			continue
		}
		c := &turns[len(turns)-1]
		head, text, _ := strings.Cut(line, ": ")
		switch head {
		case "U":
			side = &c.user
			*side = text
		case "A":
			side = &c.assistant
			*side = text
		case "keep", "keep personal", "drop":
			c.expect = append(c.expect, expectation{head != "drop", head == "keep personal", text})
		default:
			*side += "\n" + line
		}
	}
	for _, c := range turns {
		notes := distil(c.user, c.assistant, "")
		for _, e := range c.expect {
			at := slices.IndexFunc(notes, func(n note) bool { return strings.Contains(n.content, e.text) })
			if e.keep != (at >= 0) || e.personal && !notes[at].personal {
				t.Errorf("%s: %+v, kept %+v", c.name, e, notes)
			}
		}
	}
}

func FuzzDistil(f *testing.F) {
	for _, c := range readConversations(f) {
		f.Add(c.texts[0], c.texts[1])
	}
	f.Add("```", "| a | b |\n|--|")
	f.Add("`x. y", "…。！\xff")
	f.Fuzz(func(t *testing.T, user, assistant string) {
		notes := distil(strings.ToValidUTF8(user, ""), strings.ToValidUTF8(assistant, ""), "")
		if len(notes) > mostNotes {
			t.Errorf("%d notes", len(notes))
		}
		for _, n := range notes {
			if n.content == "" || len(n.content) > noteLength+askLength || !utf8.ValidString(n.content) || len(n.context) > mostContext {
				t.Errorf("note %+v", n)
			}
			for _, term := range terms(n.content) {
				if len(term) > longestTerm || strings.ContainsAny(term, "\" \n*") {
					t.Errorf("term %q", term)
				}
			}
		}
	})
}
