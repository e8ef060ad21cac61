package stated

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
)

// isDecision reports whether a sentence settles something about the work.
func isDecision(text language.Plain) bool {
	switch {
	case questions()[text.Word(0)]:
		return false
	case proposal(text), refusal(text), insteadOf.Begins(text) && chooses.In(text):
		return true
	case doubts.In(text), guesses.In(text), examples.Begins(text):
		return false
	}
	return settles.In(text) || namings.Begins(text) || chooses.Begins(text) && instead.In(text) ||
		holds.In(text) && !ofOthers(text) && text.Word(0) != "if"
}

// proposal reports whether a sentence proposes something that is no step of the work: "let's store it as JSON", and not
// "let's start".
func proposal(text language.Plain) bool {
	for i := range text.Words {
		lets := text.Word(i) == "lets" || text.Word(i) == "let" && text.Word(i+1) == "us"
		if !lets || !startsClause(text, i) && !beforeProposal()[text.Word(i-1)] {
			continue
		}
		next := i + 1
		for ; fillers()[text.Word(next)]; next++ {
			if text.Word(next) == "instead" {
				return true
			}
		}
		if verb := text.Word(next); !isStep(verb, text.Word(next+1)) && !isChore(text, next) {
			return verb != ""
		}
	}
	return false
}

// isChore reports whether a verb is about a commit, a branch and the like, which settle nothing.
func isChore(text language.Plain, verb int) bool {
	for i := verb + 1; i <= verb+4; i++ {
		if chores()[text.Word(i)] {
			return true
		}
	}
	return false
}

// isStep reports whether a verb, with the word behind it, is of doing work, not of settling something.
func isStep(verb, behind string) bool {
	switch verb {
	case "go":
		return behind != "with" && behind != "back"
	case "make":
		return behind == "sure"
	case "move":
		return forward()[behind]
	case "implement", "improve", "add", "create":
		return demonstratives()[behind] || behind == "it" || behind == "them"
	case "keep":
		return strings.HasSuffix(behind, "ing")
	}
	return steps()[verb]
}

// refusal reports whether a sentence begins with a no and says what is to be in its place.
func refusal(text language.Plain) bool {
	no, rest, comma := cut(text)
	return comma && len(no.Text) <= 12 && refuses.Begins(no) && len(rest.Words) > 1 &&
		(!reports()[rest.Word(0)] || wants.Begins(rest))
}

// cut cuts a sentence at its first comma.
func cut(text language.Plain) (before, after language.Plain, found bool) {
	a, b, found := strings.Cut(text.Text, ",")
	return language.PlainOf(a), language.PlainOf(b), found
}
