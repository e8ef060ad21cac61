package delivery

import (
	"strings"
	"unicode/utf16"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

const (
	// partSize is how much of a transcript an older daemon is given at a time, in UTF-16 units, as it counts: it cuts what is longer than 100,000.
	partSize = 95000
	// leadInSize bounds the earlier turns that go along.
	leadInSize = 8000
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

// transcript writes turns in the form that every version of the daemon takes (facts/signet-daemon.md, section 3): a line for what the user said and one for
// what the assistant said, in plain text. <private> passages and secrets are taken out once more, and what a daemon would take for its own mark
// is made harmless: it drops what follows one.
func transcript(post correlation.Selection) []line {
	var all []line
	for i, t := range post.Turns {
		from := len(all)
		all = appendLines(all, "User: ", t.User, i)
		all = appendLines(all, "Assistant: ", t.Assistant, i)
		if len(all) > from {
			all[len(all)-1].last = true
		}
	}
	return all
}

func appendLines(all []line, speaker, text string, turn int) []line {
	text = oneLine(text)
	for text != "" {
		var head string
		head, text = cut(text, partSize-len(speaker)-1)
		head = speaker + head + "\n"
		all = append(all, line{text: head, size: units(head), turn: turn})
	}
	return all
}

// oneLine folds white space and takes out what nobody is to have.
func oneLine(text string) string {
	kept, _ := memory.WithoutPrivate(text)
	return strings.Join(strings.Fields(memory.Neutralise(memory.Redact(kept))), " ")
}

// cut splits text behind at most n UTF-16 units, between words where there are any.
func cut(text string, n int) (head, rest string) {
	if len(text) <= n {
		return text, ""
	}
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

func units(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

func join(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text)
	}
	return b.String()
}

// inParts cuts a transcript into pieces of at most limit units and about one size: a short last one would be dropped. Limit 0: one piece.
func inParts(post correlation.Selection, limit int) []part {
	lines := transcript(post)
	if limit == 0 {
		return []part{{join(lines), post}}
	}
	lines = trimLeadIn(lines, post.Earlier)
	total := 0
	for _, l := range lines {
		total += l.size
	}
	if total <= limit {
		return []part{{join(lines), post}}
	}
	fair := total/(total/limit+1) + 1
	var parts []part
	next, size := 0, 0 // the first turn, and the first line, of the part being filled
	for from, i := 0, 0; i < len(lines); i++ {
		size += lines[i].size
		full := i+1 == len(lines) || size+lines[i+1].size > limit || size >= fair
		if !full {
			continue
		}
		p := part{text: join(lines[from : i+1])}
		end := next
		for _, l := range lines[from : i+1] {
			if l.last {
				end = l.turn + 1
			}
		}
		if i+1 == len(lines) {
			end = len(post.Turns)
		}
		p.post = correlation.Selection{Turns: post.Turns[next:end], Earlier: max(0, min(post.Earlier, end)-next)}
		parts = append(parts, p)
		from, next, size = i+1, end, 0
	}
	return parts
}

// trimLeadIn drops earlier turns from the start until what is left of them is short.
func trimLeadIn(lines []line, earlier int) []line {
	size, from := 0, 0
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i].turn >= earlier {
			continue
		}
		if size += lines[i].size; size > leadInSize {
			from = i + 1
			break
		}
	}
	for from > 0 && from < len(lines) && lines[from].turn == lines[from-1].turn {
		from++ // no answer without its question
	}
	return lines[from:]
}
