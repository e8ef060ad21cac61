package correlation

import (
	"fmt"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

const (
	// bytes of an answer that are kept, more than a daemon accepts of a whole session; of a longer one the beginning
	// and the end
	maxAnswer   = 96 << 10
	answerSlack = 16 << 10 // bytes by which the end may grow before its beginning is cut off
)

// An answer is what an assistant said, as a turn stores it: of a long one the beginning, for what it is about, and the
// end, for what it came to.
type answer struct {
	text    string
	head    int // bytes of text that are the beginning; 0: the answer is whole
	omitted int // bytes left out after them
}

// add appends text that was said next, after skipped bytes that are missing.
func (a *answer) add(text string, skipped int) {
	whole := a.head == 0
	if whole && skipped == 0 && len(a.text)+len(text) <= maxAnswer {
		a.text += text
		return
	}
	head, tail := a.text, ""
	if whole {
		if n := chars.Boundary(head, maxAnswer/2); n < len(head) {
			head, tail = head[:n], head[n:]
		} else if skipped == 0 {
			n = chars.Boundary(text, maxAnswer/2-len(head))
			head, text = head+text[:n], text[n:]
		}
	} else {
		head, tail = a.text[:a.head], strings.TrimPrefix(a.text[a.head:], a.omission())
	}
	if skipped > 0 { // what is before a gap is no part of the end
		a.omitted += skipped + len(tail)
		tail = ""
	}
	tail += text
	if n := len(tail) - maxAnswer/2; n > answerSlack || a.omitted == 0 {
		n = chars.Boundary(tail, max(n, 0))
		a.omitted += n
		tail = tail[n:]
	}
	a.head = len(head)
	a.text = head + a.omission() + tail
}

// omission is the mark where something was left out; "" if nothing was.
func (a *answer) omission() string {
	if a.omitted == 0 {
		return ""
	}
	return fmt.Sprintf("\n[%d bytes left out …]\n", a.omitted)
}
