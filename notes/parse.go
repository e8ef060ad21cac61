package notes

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

const (
	maxNotes = 8
	maxText  = 300 // characters of a text, and of a question
)

// kinds are what a note may be. None of them is a rule or a preference.
var kinds = []string{"decision", "finding", "how-to", "state", "failed"}

var errNoNotes = errors.New("its answer is not the JSON that it was asked for")

// parse reads an answer: one JSON object with notes, whatever stands before and behind it, and nothing of anything
// else. Notes are left out that are not as asked for, or name what the session does not.
func (b brief) parse(answer string) ([]embedded.Note, error) {
	from, to := strings.IndexByte(answer, '{'), strings.LastIndexByte(answer, '}')
	if from < 0 || to < from {
		return nil, errNoNotes
	}
	var read struct{ Notes *[]embedded.Note }
	if err := json.Unmarshal([]byte(answer[from:to+1]), &read); err != nil || read.Notes == nil {
		return nil, errNoNotes
	}
	var notes []embedded.Note
	for _, n := range *read.Notes {
		n.Text, n.Question = safe(n.Text), safe(n.Question)
		n.Turns = b.turnsOf(n.Text)
		long := max(utf8.RuneCountInString(n.Text), utf8.RuneCountInString(n.Question)) > maxText
		if len(notes) == maxNotes || n.Text == "" || long || !slices.Contains(kinds, n.Kind) || len(n.Turns) == 0 {
			continue
		}
		n.Files = slices.DeleteFunc(n.Files, func(path string) bool { return !b.files[path] })
		var replaces []string
		for _, name := range n.Replaces {
			if id := b.ids[name]; id != "" {
				replaces = append(replaces, id)
			}
		}
		n.Replaces = replaces
		notes = append(notes, n)
	}
	return notes, nil
}

// safe is a text on one line, without what must not be stored or told.
func safe(text string) string { return chars.OneLine(privacy.Safe(text)) }

// turnsOf returns the turns, by their places, that say what a note names; none if it names what no turn says. A note
// that names nothing is of all.
func (b brief) turnsOf(text string) (turns []int) {
	q := language.Ask(text)
	of := map[int]bool{}
	named := false
	for _, t := range q.Terms {
		if t.Part || t.Pair || !t.Identifier && (!t.Name || q.Nouns) {
			continue
		}
		named = true
		found := false
		for i, said := range b.turns {
			if strings.Contains(said, strings.ToLower(t.Word)) {
				found, of[i] = true, true
			}
		}
		if !found {
			return nil
		}
	}
	for i := range b.turns {
		if of[i] || !named {
			turns = append(turns, i)
		}
	}
	return turns
}
