package correlation

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

// maxAnswer is how many bytes of an answer are kept, more than a daemon accepts of a whole session: of a longer one the
// beginning, for what it is about, and the end, for what it came to.
const maxAnswer = 96 << 10

// An answer is what an assistant said, as a turn stores it.
type answer struct {
	text    string
	head    int // bytes of text that are the beginning; 0: the answer is whole, or has none
	omitted int // bytes left out after them
}

// add appends text that was said next, after skipped bytes that are missing.
func (a *answer) add(text string, skipped int) {
	e := chars.Excerpt{MaxHead: maxAnswer / 2, MaxTail: maxAnswer / 2}
	if a.omitted == 0 {
		e.Add([]byte(a.text))
	} else {
		e.Head, e.Omitted = []byte(a.text[:a.head]), a.omitted
		e.Tail = []byte(strings.TrimPrefix(a.text[a.head:], chars.Omission(a.omitted)))
	}
	e.Skip(skipped)
	e.Add([]byte(text))
	a.text, a.head, a.omitted = e.String(), 0, e.Omitted
	if a.omitted > 0 {
		a.head = len(e.Head)
	}
}
