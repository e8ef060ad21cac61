package delivery

import (
	"strings"
	"unicode/utf16"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

const (
	// partSize is how much of a transcript a daemon is given at a time, in UTF-16 units, as it counts: it cuts
	// off what is beyond 100,000.
	partSize = 95000
	// lineSize is how long a line may be in them: longer ones are cut, so that parts come out even.
	lineSize = partSize / 5
)

// A line of a transcript is a turn's user or assistant text, or a part of one that is too long.
type line struct {
	text string
	size int // UTF-16 units
	turn int
	last bool // of its turn
}

// A part is a piece of a transcript that is delivered by itself, and the turns that end in it.
type part struct {
	text string
	post correlation.Selection
}

// transcript writes turns in the form that every version of the daemon takes (docs/facts/signet-daemon.md, "The end
// of a session"): a line for what the user said and one for what the assistant said, in plain text. <private>
// passages and secrets are taken out once more, and what a daemon would take for its own mark is made harmless: it
// drops what follows one. No line is longer than limit; 0: as long as they are.
func transcript(post correlation.Selection, limit int) []line {
	var all []line
	for i, t := range post.Turns {
		from := len(all)
		user := t.User
		if t.Delegation != "" && user != "" {
			user = byAgent + user
		}
		all = appendLines(all, "User: ", user, i, limit)
		all = appendLines(all, "Assistant: ", t.Assistant, i, limit)
		if len(all) > from {
			all[len(all)-1].last = true
		}
	}
	return all
}

// byAgent begins what an agent said that delegated: a transcript knows two speakers.
const byAgent = "(another agent asks, not the user) "

func appendLines(all []line, speaker, text string, turn, limit int) []line {
	text = privacy.Line(text)
	for text != "" {
		head, rest := text, ""
		if limit > 0 {
			head, rest = cut(text, limit-len(speaker)-1)
		}
		text, head = rest, speaker+head+"\n"
		all = append(all, line{text: head, size: chars.Units(head), turn: turn})
	}
	return all
}

// cut splits text behind at most n UTF-16 units, between words where there are any.
func cut(text string, n int) (head, rest string) {
	size, space := 0, 0
	for i, r := range text {
		if size += utf16.RuneLen(r); size > n {
			if space > i/2 {
				i = space
			}
			return text[:i], strings.TrimPrefix(text[i:], " ")
		}
		if r == ' ' {
			space = i
		}
	}
	return text, ""
}

func join(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text)
	}
	return b.String()
}

// cutIntoParts cuts a transcript into parts of at most partSize units and of similar size, because the daemon would
// drop a short last one.
func cutIntoParts(post correlation.Selection) []part {
	lines := transcript(post, lineSize)
	rest := 0
	for _, l := range lines {
		rest += l.size
	}
	if rest <= partSize {
		return []part{{join(lines), post}}
	}
	var parts []part
	for from, next := 0, 0; from < len(lines); {
		fair, size, to := rest/(rest/(partSize-lineSize/2)+1), 0, from
		for to < len(lines) && (size == 0 || size+lines[to].size/2 <= fair) {
			size += lines[to].size
			to++
		}
		end := next
		for _, l := range lines[from:to] {
			if l.last {
				end = l.turn + 1
			}
		}
		if to == len(lines) {
			end = len(post.Turns)
		}
		parts = append(parts, part{join(lines[from:to]), correlation.Selection{Turns: post.Turns[next:end],
			Last: post.Last}})
		from, next, rest = to, end, rest-size
	}
	return parts
}
