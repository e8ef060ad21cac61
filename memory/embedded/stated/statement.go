// Package stated finds what a person states in a prompt: rules for the agent, preferences, what to remember,
// decisions. It knows words only: text in, sentences out. The phrases are in phrases.go, by language.
package stated

import (
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// What a sentence states, and the type of the memory that it becomes. All but a decision last: they make the profile.
const (
	Rule       = "rule"       // holds until the person says otherwise, and is addressed to the agent
	Preference = "preference" // what the person likes, or is
	Fact       = "fact"       // the person asked to remember it
	Decision   = "decision"   // settles something about the work
)

// A Statement is a sentence that states something.
type Statement struct {
	Kind     string // Rule, Preference, Fact, Decision
	Text     string
	Personal bool // true of the person, whatever the project
}

const (
	most        = 8   // statements of a prompt
	longest     = 400 // bytes of a sentence
	fewestTerms = 2   // terms of a sentence that can be understood by itself
)

// In returns what the writer of a prompt states. The same prompt gives the same statements.
func In(prompt string) (found []Statement) {
	for _, text := range sentences(prompt) {
		s, ok := read(text)
		enough := s.Personal || len(language.Terms(text)) >= fewestTerms
		if ok && enough && len(found) < most && !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	return found
}

func read(text string) (s Statement, ok bool) {
	if strings.HasSuffix(text, "?") { // "let's go with B, but can you …?"
		if at := request().FindStringIndex(text); at != nil {
			text = text[:at[0]]
		}
	}
	s.Text = text
	if language.EndsInQuestion(text) {
		return s, false
	}
	own := text
	if strings.ContainsAny(text, `"“„«「`) {
		own = quotation().ReplaceAllString(text, "…")
	}
	plain := language.PlainOf(own)
	switch lasts := !passing.In(plain); {
	case lasts && isPreference(plain):
		s.Kind, s.Personal = Preference, !likes.In(plain) || crosses(text)
	case lasts && isFact(plain) && !isRule(plain):
		s.Kind, s.Personal = Fact, ofSelf.In(plain) && crosses(text)
	case lasts && isRule(plain):
		s.Kind, s.Personal = Rule, answers.In(plain)
	case isDecision(plain):
		s.Kind = Decision
	default:
		return s, false
	}
	return s, !printed().MatchString(text)
}

var (
	// request is the end of a sentence that asks the agent for something.
	request = pattern.New(`(?i),? (?:but|and|so) (?:can|could|would|will) you\b[^?]*\?$`)
	// quotation is what somebody else said, or would.
	quotation = pattern.New(`"[^"]{3,}"|“[^”]{3,}”|„[^“”]{3,}[“”]|«[^»]{3,}»|「[^」]{3,}」`)
	// printed is of a compiler, a linter, a log: no person said it.
	printed = pattern.New(`(?i)[\w/\\-]+\.\w{1,5}:\d+|\(\d+,\d+\)|\[[A-Z]{1,4}\d{2,5}\]|\b[a-z]*(?:warning|error|WARN|ERR!?)\b:?.{0,24}` +
		`(?:: | deprecated| TS\d)|^npm |^\[?(?:warn|info|debug|error)|` +
		`\b\d\d:\d\d:\d\d\b|\x1b\[|^\d+ *\||[;{}]$|\bnew \w+\(`)
)

// sentences returns those of a prompt that its writer typed.
func sentences(prompt string) (list []string) {
	for _, s := range language.Sentences(passage.Typed(prompt)) {
		if len(s.Text) <= longest && s.Text[0] != '`' {
			list = append(list, s.Text)
		}
	}
	return list
}
