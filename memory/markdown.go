package memory

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

// How much of what a source gives is looked at: many times what fits into a block, and little beside what a broken
// source may send.
const (
	maxBytes     = 256 << 10 // of one text
	maxItemBytes = 16 << 10  // of one item
	maxItems     = 500       // of one context
)

// safe cuts foreign text to most bytes and takes out of it what must not be said.
func safe(text string, most int) string { return privacy.Safe(chars.Cut(text, most)) }

// oneLine makes a note one line, so that it cannot begin a section of its own.
func oneLine(text string) string { return chars.OneLine(safe(text, maxItemBytes)) }

// itemText makes an item one line, but for its code, which keeps its lines between its fences.
func itemText(text string) string {
	var parts, prose []string
	lines := strings.Split(safe(text, maxItemBytes), "\n")
	flush := func() {
		if line := chars.OneLine(strings.Join(prose, " ")); line != "" {
			parts = append(parts, line)
		}
		prose = prose[:0]
	}
	for i := 0; i < len(lines); i++ {
		end := FenceEnd(lines, i)
		if end == 0 {
			prose = append(prose, lines[i])
			continue
		}
		flush()
		parts = append(parts, ClipCode(strings.Join(lines[i:end+1], "\n"), maxItemBytes))
		i = end
	}
	flush()
	return strings.Join(parts, "\n")
}

// nested prepares foreign text: it moves every Markdown heading two levels down, below the block's sections, and makes
// one of several blank lines. Code stays as it is in what the user wrote; in other text its headings are moved, too.
func nested(text string, byUser bool) string {
	var b strings.Builder
	lines := strings.Split(strings.TrimRight(safe(text, maxBytes), " \t\n"), "\n")
	verbatim := make([]bool, len(lines))
	if byUser {
		verbatim = Code(lines)
	}
	gap := false
	for i, line := range lines {
		if !verbatim[i] {
			line = strings.TrimRight(line, " \t")
		}
		if line == "" && !verbatim[i] {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte('\n')
			gap = false
		}
		bare := strings.TrimLeft(line, " ")
		behind := strings.TrimLeft(bare, "#")
		level := len(bare) - len(behind)
		isHeading := 1 <= level && level <= 6 && (behind == "" || behind[0] == ' ' || behind[0] == '\t')
		if isHeading && !verbatim[i] {
			line = strings.Repeat("#", min(level+2, 6)) + behind
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// WithoutComment returns a text without the HTML comment that it begins with, if any: in a template that init writes
// it is for the person, and has an example of somebody else.
func WithoutComment(text string) string {
	if rest, begins := strings.CutPrefix(strings.TrimSpace(text), "<!--"); begins {
		if _, behind, ends := strings.Cut(rest, "-->"); ends {
			return strings.TrimSpace(behind)
		}
	}
	return text
}

// Code reports which lines of a Markdown text are code: what stands between fences, with them, and what is indented by
// four columns, with the blank lines in between. It is content, byte for byte: a heading in it is none. A fence that is
// never closed is none either, or it would take all that follows.
func Code(lines []string) []bool {
	code := make([]bool, len(lines))
	last := -1 // the last indented line
	for i := 0; i < len(lines); i++ {
		if end := FenceEnd(lines, i); end > 0 {
			for ; i < end; i++ {
				code[i] = true
			}
			code[i], last = true, -1
			continue
		}
		switch {
		case strings.TrimSpace(lines[i]) == "":
		case !strings.HasPrefix(lines[i], "    ") && !strings.HasPrefix(lines[i], "\t"):
			last = -1
		default:
			code[i] = true
			for blank := last + 1; last >= 0 && blank < i; blank++ {
				code[blank] = true
			}
			last = i
		}
	}
	return code
}

// FenceEnd returns the line that closes the fence in line i, 0 where there is none.
func FenceEnd(lines []string, i int) int {
	open := strings.TrimLeft(lines[i], " \t")
	if !strings.HasPrefix(open, "```") && !strings.HasPrefix(open, "~~~") {
		return 0
	}
	mark := open[:1]
	length := len(open) - len(strings.TrimLeft(open, mark))
	if mark == "`" && strings.Contains(open[length:], mark) { // code in a line of text
		return 0
	}
	for end := i + 1; end < len(lines); end++ {
		if bare := strings.TrimSpace(lines[end]); len(bare) >= length && strings.Trim(bare, mark) == "" {
			return end
		}
	}
	return 0
}

const maxCodeLines = 8 // of a block of code that are told of what was recalled

// ClipCode shortens a fenced block of code to most bytes and to a few lines, whole ones, with its fences.
func ClipCode(block string, most int) string {
	lines := strings.Split(block, "\n")
	fence := lines[len(lines)-1]
	size := len(fence)
	for i, line := range lines[:len(lines)-1] {
		if size += len(line) + 1; i > 1 && size > most || i > maxCodeLines {
			return strings.Join(lines[:i], "\n") + "\n…\n" + fence
		}
	}
	return block
}
