package term

import (
	"fmt"
	"strings"
	"time"

	"github.com/rivo/uniseg"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

// Width is how many columns text takes.
func Width(text string) int { return uniseg.StringWidth(text) }

// Cut shortens text to width columns, at its end.
func Cut(text string, width int) string {
	if Width(text) <= width {
		return text
	}
	used, kept := 1, 0 // the mark's column
	for rest, state := text, -1; rest != ""; {
		var cluster string
		var columns int
		cluster, rest, columns, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used += columns; used > width {
			break
		}
		kept += len(cluster)
	}
	return text[:kept] + "…"
}

// cutLeft shortens text to width columns, at its beginning, for paths, whose end says most.
func cutLeft(text string, width int) string {
	over := Width(text) - width
	if over <= 0 {
		return text
	}
	over++ // the mark's column
	for state := -1; over > 0 && text != ""; {
		var columns int
		_, text, columns, state = uniseg.FirstGraphemeClusterInString(text, state)
		over -= columns
	}
	return "…" + text
}

// Wrap breaks text between words at width columns; all lines but the first are indented.
func Wrap(text string, width, indent int) string {
	room := width - indent
	if width == 0 || room < 20 {
		return text
	}
	var b strings.Builder
	used := 0
	for i, word := range strings.Fields(text) {
		n := Width(word)
		switch {
		case i == 0:
		case used+1+n > room:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}

// Visible is Printable for text of several lines, which keep their indentation.
func Visible(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n")
	for i := range lines {
		indent := lines[i][:len(lines[i])-len(strings.TrimLeft(lines[i], " "))]
		lines[i] = indent + chars.Printable(lines[i])
	}
	return strings.Join(lines, "\n")
}

// Local returns a time for people, in local time.
func Local(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// Count returns a number with its noun.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		noun = stem + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
