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
	e := echo{places: places(text, blocks)}
	if len(e.places) == 0 {
		return text
	}
	for line := range strings.Lines(text) {
		e.line(line)
	}
	e.stop()
	return e.kept.String()
}

// places says where in the blocks the lines of text stand.
func places(text string, blocks []string) map[string][]int {
	said, found := map[string]bool{}, map[string][]int{}
	if len(blocks) > 0 {
		for line := range strings.Lines(text) {
			said[bare(line)] = true
		}
	}
	n := 0
	for _, block := range blocks {
		for line := range strings.Lines(block) {
			if line = bare(line); line == "" {
				continue
			}
			if said[line] {
				found[line] = append(found[line], n)
			}
			n++
		}
		n++ // a gap, so that the next block's first line does not follow this block's last
	}
	return found
}

type echo struct {
	places map[string][]int // of lines in the blocks
	kept   strings.Builder
	run    []string // lines of a possible echo, until it has minEcho bytes
	size   int      // bytes of the possible echo, without white space and quotation marks
	ends   []int    // the places in the blocks where the possible echo may have got to
}

func (e *echo) line(line string) {
	words := bare(line)
	if words == "" {
		e.hold(line)
		return
	}
	var next []int
	for _, at := range e.places[words] {
		if slices.Contains(e.ends, at-1) {
			next = append(next, at)
		}
	}
	if len(next) == 0 {
		e.stop()
		next = e.places[words]
	}
	if e.ends = next; len(next) == 0 {
		e.kept.WriteString(line)
		return
	}
	e.size += len(words)
	e.hold(line)
}

// hold keeps a line of the run until it is known whether the run is an echo. Then the run is dropped, except for its
// blank lines; a quotation's empty lines (">") are dropped, too.
func (e *echo) hold(line string) {
	e.run = append(e.run, line)
	if e.size > 0 && e.size < minEcho {
		return
	}
	for _, line := range e.run {
		if e.size < minEcho || strings.TrimSpace(line) == "" {
			e.kept.WriteString(line)
		}
	}
	e.run = e.run[:0]
}

// stop ends the run. What is left of it is too short to be an echo.
func (e *echo) stop() {
	for _, line := range e.run {
		e.kept.WriteString(line)
	}
	e.run, e.size, e.ends = e.run[:0], 0, nil
}

// bare is a line without the white space around it and without quotation marks.
func bare(line string) string { return strings.TrimSpace(strings.TrimLeft(line, "> \t")) }
