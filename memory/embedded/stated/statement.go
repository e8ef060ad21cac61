// Package stated finds what a person states in a prompt: rules for the agent, preferences, decisions, wishes. It knows
// words only: text in, sentences out. The phrases are in phrases.go, by language.
package stated

import (
	"slices"
	"strings"
	"unicode"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// A Kind says what a sentence states. It is also the type of the memory that it becomes.
type Kind string

// Kinds.
const (
	Rule       Kind = "rule"       // holds until the person says otherwise, and is addressed to the agent
	Preference Kind = "preference" // what the person likes, or is
	Decision   Kind = "decision"   // settles something about the work
	Fact       Kind = "fact"       // the person asked to remember it
	Wish       Kind = "wish"       // a rule only if it is said again and again: a complaint, "don't …", "make sure …"
)

// A Statement is a sentence that states something.
type Statement struct {
	Kind     Kind
	Text     string
	Personal bool // true of the person, whatever the project
}

const (
	most        = 8   // statements of a prompt
	longest     = 400 // bytes of a sentence
	fewestTerms = 2   // terms of a sentence that can be understood by itself
)

// In returns what a prompt states. The same prompt gives the same statements.
func In(prompt string) (found []Statement) {
	for _, text := range sentences(prompt) {
		s, ok := read(text)
		if ok && len(found) < most && len(language.Terms(text)) >= fewestTerms && !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	return found
}

func read(text string) (s Statement, ok bool) {
	if at := request().FindStringIndex(text); at != nil { // "let's go with B, but can you …?"
		text = text[:at[0]]
	}
	s.Text = text
	plain := language.PlainOf(text)
	switch asks := language.EndsInQuestion(text); {
	case !asks && remembers.Begins(plain) && !isRule(plain, asks):
		s.Kind = Fact
	case !asks && preferences.In(plain):
		s.Kind = Preference
		s.Personal = ofPerson.Begins(plain) && crosses(text)
	case isRule(plain, asks):
		s.Kind = Rule
	case isDecision(plain, asks):
		s.Kind = Decision
	case isWish(plain, asks):
		s.Kind = Wish
	default:
		return s, false
	}
	return s, true
}

// crosses reports whether a preference may be told in other projects: one that names nothing. A digit, a sign of paths,
// addresses and keys, or a capital inside of the sentence may be of something that is this project's own.
func crosses(text string) bool {
	if strings.ContainsAny(text, "/\\_`@:=#~[]<>{}") || strings.ContainsFunc(text, unicode.IsDigit) {
		return false
	}
	for n, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if word == "I" {
			continue
		}
		for i, r := range word {
			if unicode.IsUpper(r) && (n > 0 || i > 0) {
				return false
			}
		}
	}
	return true
}

// request is the end of a sentence that asks the agent for something.
var request = pattern.New(`(?i),? (?:but|and|so) (?:can|could|would|will) you\b[^?]*\?$`)

const (
	ownWords = 1500 // bytes; what is longer is mostly pasted: its beginning and its last paragraph are read
	lastWord = 400  // bytes of such a last paragraph
)

// sentences returns a prompt's sentences in the person's own words: without code, logs and quotations.
func sentences(prompt string) (list []string) {
	if len(prompt) > ownWords {
		last := prompt[strings.LastIndex(strings.TrimSpace(prompt), "\n\n")+1:]
		if prompt = strings.ToValidUTF8(prompt[:ownWords], ""); len(last) <= lastWord {
			prompt += "\n\n" + last
		}
	}
	var own strings.Builder
	for line := range strings.Lines(prompt) {
		bare := strings.TrimSpace(line)
		if !slices.ContainsFunc(notTyped, func(begins string) bool { return strings.HasPrefix(bare, begins) }) {
			own.WriteString(line)
		}
	}
	for _, s := range language.Sentences(own.String()) {
		if len(s.Text) <= longest && !isOutput(s.Text) && s.Text[0] != '`' {
			list = append(list, s.Text)
		}
	}
	return list
}

// notTyped begin lines that a person does not say: quotations, prompts of a shell, comments in code.
var notTyped = []string{">", "❯", "$ ", "//", "/*"}

// isOutput reports whether a line was not typed as a sentence: it is of a log or of code.
func isOutput(text string) bool { return output().MatchString(text) }

var output = pattern.New(`\b\d\d:\d\d:\d\d\b|\x1b\[|^\d+ *\||[;{}]$|\bnew \w+\(|\w+Error:`)
