package privacy

import (
	"slices"
	"sort"
	"strings"
	"unicode"
)

// withoutEcho takes out of text what repeats one of the blocks, quoted or not: lines that follow each other there, too.
// Less than minEcho bytes stay: a few short lines may be the assistant's own.
func withoutEcho(text string, blocks []string) string {
	e := newEcho(blocks)
	return e.add(text, true)
}

const minEcho = 24 // bytes of equal lines that are no coincidence

// An echo takes out of text that arrives in pieces what it repeats of blocks.
type echo struct {
	places map[string][]int // where a line stands in the blocks
	lines  []string         // of the blocks, sorted

	part    string   // of a line whose end has not come, which may be a line of the blocks
	passing bool     // this line is none of the blocks': the rest of it is passed on as it comes
	run     []string // lines of a possible echo that are held back, until it has minEcho bytes
	size    int      // bytes of the possible echo, without white space and quotation marks
	ends    []int    // the places in the blocks where the possible echo may have got to
}

func newEcho(blocks []string) *echo {
	e := &echo{places: map[string][]int{}}
	n := 0
	for _, block := range blocks {
		for line := range strings.Lines(block) {
			if line = bare(line); line != "" {
				e.places[line] = append(e.places[line], n)
				n++
			}
		}
		n++ // a gap, so that the next block's first line does not follow this block's last
	}
	for line := range e.places {
		e.lines = append(e.lines, line)
	}
	sort.Strings(e.lines)
	return e
}

// add takes the next piece of text and returns what is judged by now and was not given before. At the end it holds
// nothing back.
func (e *echo) add(text string, end bool) string {
	if len(e.lines) == 0 {
		return text
	}
	text, e.part = e.part+text, ""
	var kept strings.Builder
	for line := range strings.Lines(text) {
		whole := end || strings.HasSuffix(line, "\n")
		switch {
		case e.passing:
			kept.WriteString(line)
		case whole:
			e.line(line, &kept)
		case e.mayBeTheirs(line):
			e.part = line
			continue
		default:
			e.stop(&kept)
			kept.WriteString(line)
		}
		e.passing = !whole
	}
	if end {
		e.stop(&kept)
	}
	return kept.String()
}

// line takes a whole line.
func (e *echo) line(line string, kept *strings.Builder) {
	words := bare(line)
	if words == "" {
		e.hold(line, kept)
		return
	}
	var next []int
	for _, at := range e.places[words] {
		if slices.Contains(e.ends, at-1) {
			next = append(next, at)
		}
	}
	if len(next) == 0 {
		e.stop(kept)
		next = e.places[words]
	}
	if e.ends = next; len(next) == 0 {
		kept.WriteString(line)
		return
	}
	e.size += len(words)
	e.hold(line, kept)
}

// hold keeps a line of the run until it is known whether the run is an echo. Then the run is dropped, except for its
// blank lines; a quotation's empty lines (">") are dropped, too.
func (e *echo) hold(line string, kept *strings.Builder) {
	e.run = append(e.run, line)
	if e.size > 0 && e.size < minEcho && len(e.run) < 1000 {
		return
	}
	for _, line := range e.run {
		if e.size < minEcho || strings.TrimSpace(line) == "" {
			kept.WriteString(line)
		}
	}
	e.run = e.run[:0]
}

// stop ends the run.
func (e *echo) stop(kept *strings.Builder) {
	for _, line := range e.run { // they are too short to be an echo
		kept.WriteString(line)
	}
	e.run, e.size, e.ends = e.run[:0], 0, nil
}

// mayBeTheirs reports whether a line of the blocks may begin like this.
func (e *echo) mayBeTheirs(part string) bool {
	words := strings.TrimLeftFunc(strings.TrimLeft(part, "> \t"), unicode.IsSpace)
	if words == "" {
		return true
	}
	at := sort.SearchStrings(e.lines, words)
	return at < len(e.lines) && strings.HasPrefix(e.lines[at], words) || len(e.places[strings.TrimSpace(words)]) > 0
}

// bare is a line without the white space around it and without quotation marks.
func bare(line string) string { return strings.TrimSpace(strings.TrimLeft(line, "> \t")) }
