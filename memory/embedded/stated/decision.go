package stated

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
)

// isDecision reports whether a sentence settles something about the work.
func isDecision(text string, asks bool) bool {
	switch {
	case asks, questions()[firstWord(text)]:
		return false
	case proposal(text), refusal(text), insteadOf.Begins(text) && chooses.In(text):
		return true
	case doubts.In(text), guesses.In(text), examples.Begins(text):
		return false
	}
	return settles.In(text) || names.Begins(text) || chooses.Begins(text) && instead.In(text) ||
		holds.In(text) && !ofOthers(text) && firstWord(text) != "if"
}

func firstWord(text string) string {
	if words := language.Words(text); len(words) > 0 {
		return folded(words[0])
	}
	return ""
}

// proposal reports whether a sentence proposes something that is no step of the work: "let's store it as JSON", and not
// "let's start".
func proposal(text string) bool {
	words := language.Words(text)
	plain := make([]string, len(words), len(words)+2)
	for i, w := range words {
		plain[i] = folded(w)
	}
	plain = append(plain, "", "")
	for i := range words {
		if plain[i] != "lets" && !(plain[i] == "let" && plain[i+1] == "us") ||
			i > 0 && !startsClause(text, words, i) && !beforeProposal()[plain[i-1]] {
			continue
		}
		next := plain[i+1:]
		for len(next) > 2 && fillers()[next[0]] {
			if next[0] == "instead" {
				return true
			}
			next = next[1:]
		}
		switch verb, behind := next[0], next[1]; {
		case verb == "go" && behind == "with", verb == "go" && behind == "back":
			return true
		case verb == "make" && behind == "sure", verb == "move" && forward()[behind],
			verb == "keep" && strings.HasSuffix(behind, "ing"), steps()[verb]:
		default:
			return verb != ""
		}
	}
	return false
}

// refusal reports whether a sentence begins with a no and says what is to be in its place.
func refusal(text string) bool {
	no, rest, comma := strings.Cut(text, ",")
	return comma && len(no) <= 12 && refuses.Begins(no) && len(language.Words(rest)) > 1 &&
		(!reports()[firstWord(rest)] || wants.Begins(rest))
}
