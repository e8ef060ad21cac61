package passage

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

// What a turn is made of: the user's words, what the agent says before it calls a tool, which is narration, and what it
// says after its last call, which is the result.

const (
	minPlan = 300 // bytes of a text before a call that is more than narration: often a plan

	// An answer without calls is work as well where it is so much longer than its prompt, and that long: in talk both
	// sides say as much. Not every harness reports its calls.
	workShare = 4
	minWork   = 400 // bytes
)

// A Part of a turn is what the user said, or what the agent said between two calls. Narration that follows narration is
// one part.
type Part struct {
	Text   string
	Traits Traits // those that come of its place
	ByUser bool
}

// Parts takes a turn apart. answer has chars.ToolMark where tools were called; tools says that some were, wherever.
func Parts(user, answer string, tools bool) []Part {
	pieces := strings.Split(answer, chars.ToolMark)
	user = withoutPastes(user)
	var of Traits
	if tools || len(pieces) > 1 || len(answer) > minWork && len(answer) > workShare*len(user) {
		of = Works
	}
	parts := []Part{{user, of, true}}
	for i, text := range pieces {
		text = strings.TrimSpace(text)
		part := Part{Text: text, Traits: of}
		switch before := &parts[len(parts)-1]; {
		case text == "":
			continue
		case i == len(pieces)-1:
		case len(text) >= minPlan:
			part.Traits |= Plans
		case before.Traits.Has(Narrates):
			before.Text += "\n" + text
			continue
		default:
			part.Traits |= Narrates
		}
		parts = append(parts, part)
	}
	return parts
}
