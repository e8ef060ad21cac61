package correlation

import (
	"fmt"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

const (
	// bytes of an answer, more than a daemon takes of a whole session; of a longer one the beginning and the end are
	// kept
	maxAnswer   = 96 << 10
	answerSlack = 16 << 10 // bytes by which the end may be longer, so that it is not moved with every word
)

// An answer is what an assistant said, as a turn has it: of a long one the beginning, for what it is about, and the
// end, for what it came to.
type answer struct {
	text string
	head int // bytes of the beginning; 0: the answer is whole
	left int // bytes left out behind them
}

// add appends what was said next, skipped bytes after the last.
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
		head, tail = a.text[:a.head], strings.TrimPrefix(a.text[a.head:], a.gap())
	}
	if skipped > 0 { // nothing of what stands before a gap is the end
		a.left += skipped + len(tail)
		tail = ""
	}
	tail += text
	if n := len(tail) - maxAnswer/2; n > answerSlack || a.left == 0 {
		n = chars.Boundary(tail, max(n, 0))
		a.left += n
		tail = tail[n:]
	}
	a.head = len(head)
	a.text = head + a.gap() + tail
}

// gap stands where something was left out.
func (a *answer) gap() string {
	if a.left == 0 {
		return ""
	}
	return fmt.Sprintf("\n[%d bytes left out …]\n", a.left)
}
