package passage

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// What a turn is made of: the user's words, what the agent says before it calls a tool, which is narration, and what it
// says after its last call, which is the result.

const (
	maxPasted = 4 << 10 // bytes of one thing that was pasted: of a log, a trace, a file that is longer, its two ends

	// An answer without calls is work as well where it is so much longer than its prompt, and that long: in talk both
	// sides say as much. Not every harness reports its calls.
	workShare = 4
	minWork   = 400 // bytes
)

// Parts takes a turn apart. answer has chars.ToolMark where tools were called; tools says that some were, wherever.
func Parts(user, answer string, tools bool) []Part {
	texts := strings.Split(answer, chars.ToolMark)
	parts := pieces(user)
	typed := 0 // bytes
	for i, p := range parts {
		switch p.Who {
		case memory.Typed:
			typed += len(p.Text)
		case memory.Pasted:
			parts[i].Text = chars.Ends(p.Text, maxPasted)
		}
	}
	var of Traits
	if tools || len(texts) > 1 || len(answer) > minWork && len(answer) > workShare*typed {
		of = Works
	}
	for i := range parts {
		parts[i].Traits = of
	}
	said := len(parts) // by the user
	for i, text := range texts {
		text = strings.TrimSpace(text)
		part := Part{Text: text, Traits: of, Who: memory.Agent}
		switch {
		case text == "":
			continue
		case i == len(texts)-1:
		case len(parts) > said && parts[len(parts)-1].Traits.Has(Narrates):
			parts[len(parts)-1].Text += "\n" + text
			continue
		default:
			part.Traits |= Narrates
		}
		parts = append(parts, part)
	}
	return parts
}
