package privacy

import (
	"slices"
	"strings"
)

const minEcho = 24 // bytes of equal lines that are no coincidence

// WithoutEcho takes out of text what repeats one of the blocks, quoted or not: lines that follow each other there, too.
// Less than minEcho bytes stay: a few short lines may be the assistant's own. The record keeps all that was said; this
// is for what would be taken for new: what memory learns from, and titles.
func WithoutEcho(text string, blocks []string) string {
	if len(blocks) == 0 {
		return text
	}
	at := places(blocks)
	var kept strings.Builder
	for lines := slices.Collect(strings.Lines(text)); len(lines) > 0; {
		n, size := echoed(lines, at)
		for _, line := range lines[:n] {
			if size < minEcho || strings.TrimSpace(line) == "" { // a quotation's empty lines (">") go, too
				kept.WriteString(line)
			}
		}
		lines = lines[n:]
	}
	return kept.String()
}

// places says where in the blocks each line stands.
func places(blocks []string) map[string][]int {
	found, n := map[string][]int{}, 0
	for _, block := range blocks {
		for line := range strings.Lines(block) {
			if line = bare(line); line != "" {
				found[line] = append(found[line], n)
				n++
			}
		}
		n++ // a gap, so that the next block's first line does not follow this block's last
	}
	return found
}

// echoed returns how many lines from the first one follow each other in a block, too, blank ones aside, and how many
// bytes these have without white space and quotation marks. Of what no block has the first line counts alone.
func echoed(lines []string, at map[string][]int) (n, size int) {
	ends := at[bare(lines[0])]
	for ; n < len(lines); n++ {
		words := bare(lines[n])
		if n > 0 && words != "" {
			ends = slices.DeleteFunc(slices.Clone(at[words]), func(at int) bool { return !slices.Contains(ends, at-1) })
		}
		if len(ends) == 0 {
			break
		}
		size += len(words)
	}
	return max(n, 1), size
}

// bare is a line without the white space around it and without quotation marks.
func bare(line string) string { return strings.TrimSpace(strings.TrimLeft(line, "> \t")) }
