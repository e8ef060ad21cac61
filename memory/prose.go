package memory

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

// mostBytes is how much of one text is looked at: many times what fits into a block, little against what a broken
// source may send.
const (
	mostBytes     = 256 << 10
	mostItemBytes = 16 << 10
	mostItems     = 500 // of one context
)

// safe takes out of foreign text what must not be said.
func safe(text string, most int) string { return privacy.Safe(chars.Cut(text, most)) }

// oneLine makes a note one line, so that it can begin no section of its own.
func oneLine(text string) string { return strings.Join(strings.Fields(safe(text, mostItemBytes)), " ") }

// own prepares files that the user wrote: their headings go below ours, their code stays.
func own(text string) string { return nested(safe(text, mostBytes), true) }

// recalled prepares text that the user did not write. In it no code fence keeps a heading from being moved: one left
// open would hide all that follow.
func recalled(text string) string { return nested(safe(text, mostBytes), false) }

// nested moves every Markdown heading two levels down, below the block's sections, and takes blank lines together.
func nested(text string, fences bool) string {
	var b strings.Builder
	fenced, gap := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\n")
		if line == "" {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte('\n')
			gap = false
		}
		bare := strings.TrimLeft(line, " ")
		if fences && (strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~")) {
			fenced = !fenced
		}
		if level := len(bare) - len(strings.TrimLeft(bare, "#")); !fenced && heading(bare, level) {
			b.WriteString(strings.Repeat("#", min(level+2, 6)) + bare[level:] + "\n")
			continue
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func heading(bare string, level int) bool {
	return level >= 1 && level <= 6 && (len(bare) == level || bare[level] == ' ' || bare[level] == '\t')
}
