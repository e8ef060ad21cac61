package stated

import (
	"regexp"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// Decided returns the sentences of a prompt that settle something: its decisions, rules and preferences, what it asks
// to remember, and what answers a question that the agent asked before. An answer carries the question with it.
func Decided(before, prompt string) (list []string) {
	for i, text := range sentences(prompt) {
		s, ok := read(text)
		question := ""
		if i == 0 {
			question = answered(before, text)
		}
		switch {
		case len(list) == most:
			return list
		case strings.HasSuffix(text, ":"), strings.HasPrefix(text, "//"), passingState.Begins(language.PlainOf(text)):
		case question != "" && !ok:
			list = append(list, "asked “"+question+"”: "+text)
		case ok && len(language.Terms(s.Text)) > 0:
			list = append(list, withOption(before, s.Text))
		}
	}
	return list
}

// passingState begins a sentence about how things are.
var passingState = language.NewPhrases(`right now|currently|at the moment|what i'd like to do is`, ``)

const (
	lastPart      = 1200 // bytes of an answer in which its question is looked for
	longestAsk    = 120  // bytes of a question that is told
	longestSay    = 160  // bytes of an answer to it
	longestChoice = 8    // words of an answer that chooses
	longestLine   = 120  // bytes of an option that is told
)

// answered returns the question of the agent that a sentence answers, "" if it answers none. That the agent may go on
// settles nothing.
func answered(before, text string) string {
	answer := language.PlainOf(text)
	if len(text) > longestSay || language.EndsInQuestion(text) || questions()[answer.Word(0)] {
		return ""
	}
	question := lastQuestion(before)
	if question == "" || !settlesIt(language.PlainOf(question), answer) {
		return ""
	}
	return chars.Cut(question, longestAsk)
}

// lastQuestion returns the last question near the end of an answer.
func lastQuestion(answer string) (question string) {
	if answer = strings.TrimSpace(answer); len(answer) > lastPart {
		answer = strings.ToValidUTF8(answer[len(answer)-lastPart:], "")
	}
	for _, s := range language.Sentences(answer) {
		if language.EndsInQuestion(s.Text) {
			question = s.Text
		}
	}
	return question
}

// settlesIt reports whether an answer settles what was asked.
func settlesIt(asked, answer language.Plain) bool {
	said, rest, _ := cut(answer)
	switch {
	case reports()[answer.Word(1)] && !refuses.Begins(said):
		return false // "ok, I've …"
	case offers.In(asked):
		return affirms.Begins(said) && exceptions.Begins(rest)
	case matters.In(asked) && (affirms.Begins(answer) || refuses.Begins(answer)):
		return true
	}
	first := answer.Word(0) // that reports something or begins work chooses nothing
	return choices.In(asked) && len(answer.Words) <= longestChoice && !approves(answer.Text) &&
		(first == "the" || first != "lets" && !reports()[first] && !steps()[first])
}

// approves reports whether a sentence only lets the agent go on.
func approves(text string) bool {
	rest := text
	for p := range strings.SplitSeq("yes|yep|ok|okay|sure|go ahead|please|do it|sounds good|great", "|") {
		rest = strings.ReplaceAll(strings.ToLower(rest), p, "")
	}
	return len(language.Terms(rest)) == 0 && !optionName().MatchString(text)
}

var optionName = pattern.New(`(?i)\b(?:option|variant|approach|opción|opzione|opção|optie|вариант) ?#?([a-z]|\d{1,2})\b`)

// withOption adds to a sentence that chooses an option what that option is.
func withOption(before, text string) string {
	found := optionName().FindString(text)
	if found == "" {
		return text
	}
	option := regexp.MustCompile(`(?im)^[^\pL\n]*` + regexp.QuoteMeta(found) + `\b[^\pL\n]*(.*)$`)
	line := option.FindStringSubmatch(before)
	if line == nil || strings.TrimSpace(line[1]) == "" {
		return text
	}
	return text + " (" + found + ": " + chars.Cut(strings.Trim(line[1], " *_:`"), longestLine) + ")"
}
