package memory

import (
	"strings"
	"unicode/utf8"
)

// quoted is what somebody said, each line marked as a quotation. What is too long loses its middle, because an answer's
// conclusion stands at its end.
func quoted(label, said string) string {
	said = middleOut(said, 4*speechBudget) // before safe, which is slow on a long text
	said = strings.TrimSpace(safe(said, maxBytes))
	if said == "" {
		return ""
	}
	for room := speechBudget; ; room /= 2 { // the quotation marks of many short lines take room, too
		var b strings.Builder
		for line := range strings.Lines(label + middleOut(said, room)) {
			b.WriteString(strings.TrimRight("> "+strings.TrimRight(line, "\n"), " ") + "\n")
		}
		if Tokens(b.String()) <= speechBudget+speechBudget/4 {
			return b.String()
		}
	}
}

// middleOut shortens text to budget tokens by cutting its middle out.
func middleOut(text string, budget int) string {
	const mark = "\n[…]\n"
	if quarters(text) <= 4*budget {
		return text
	}
	half := (4*budget - quarters(mark)) / 2
	head, tail := 0, len(text)
	for left := half; ; {
		_, n := utf8.DecodeRuneInString(text[head:])
		if left -= quarters(text[head : head+n]); left < 0 {
			break
		}
		head += n
	}
	for left := half; ; {
		_, n := utf8.DecodeLastRuneInString(text[:tail])
		if left -= quarters(text[tail-n : tail]); left < 0 {
			break
		}
		tail -= n
	}
	return strings.TrimRight(text[:head], " \n") + mark + strings.TrimLeft(text[tail:], " \n")
}
