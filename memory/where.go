package memory

import (
	"fmt"
	"strings"
	"time"
)

// A Place is files of the project that earlier work touched.
type Place struct {
	Paths []string  `json:"paths"` // from the project's top, best first
	Words string    `json:"words"` // what the user said of that work; untrusted
	Date  time.Time `json:"date"`
	Score float64   `json:"score,omitempty"`
}

const (
	whereHeading = "## Where\nFiles of earlier work on such things, the likeliest first.\n"
	maxWhere     = 700 // bytes of the section
	maxPlaced    = 10  // paths in it
	maxSaid      = 80  // bytes of the words of a place
	leastSaid    = 40
)

// FileItem is what a path is called among the items of a block.
func FileItem(path string) string { return "file:" + path }

// FileOf is the path of such an item.
func FileOf(item string) (path string, isFile bool) { return strings.CutPrefix(item, "file:") }

// InWords counts the items of a block: "3 memories, 2 files", or "" for none.
func InWords(items []string) string {
	files := 0
	for _, item := range items {
		if _, isFile := FileOf(item); isFile {
			files++
		}
	}
	var parts []string
	for _, part := range []struct {
		n         int
		one, many string
	}{{len(items) - files, "memory", "memories"}, {files, "file", "files"}} {
		switch part.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+part.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.many))
		}
	}
	return strings.Join(parts, ", ")
}

// whereSection lists places in at most most bytes. A path is whole, for an agent copies it; the user's words have what
// room is left, those of the best places first.
func whereSection(places []Place, most int) (text string, names []string) {
	left := most - len(whereHeading)
	places = firstPaths(places, maxPlaced)
	var lines []string
	for i := range places {
		p := &places[i]
		for len(p.Paths) > 0 && len(p.line(0)) > left {
			p.Paths = p.Paths[:len(p.Paths)-1]
		}
		if len(p.Paths) == 0 {
			break
		}
		lines = append(lines, p.line(0))
		left -= len(lines[i])
		for _, path := range p.Paths {
			names = append(names, FileItem(path))
		}
	}
	if len(lines) == 0 {
		return "", nil
	}
	for i, bare := range lines {
		lines[i] = places[i].line(min(left-len(`: ""`), maxSaid))
		left -= len(lines[i]) - len(bare)
	}
	return whereHeading + strings.Join(lines, ""), names
}

// firstPaths returns the places up to so many paths, without those that could break a line or be more than a path.
func firstPaths(places []Place, most int) (list []Place) {
	for _, p := range places {
		var paths []string
		for _, path := range p.Paths {
			if most > 0 && path == oneLine(path) {
				paths, most = append(paths, path), most-1
			}
		}
		if p.Paths = paths; len(paths) > 0 {
			list = append(list, p)
		}
	}
	return list
}

// LineIn is the line of a block's text that tells the place, "" for none.
func (p Place) LineIn(block string) string {
	_, where, _ := strings.Cut(block, whereHeading)
	for line := range strings.Lines(where) {
		if strings.HasPrefix(line, "- "+p.Paths[0]+", ") || strings.HasPrefix(line, "- "+p.Paths[0]+" (") {
			return strings.TrimSpace(line[len("- "):])
		}
	}
	return ""
}

// line is a place on one line, with at most so many bytes of its words, or none where that is too little.
func (p Place) line(most int) string {
	about := p.Date.UTC().Format("2006-01-02")
	if said := oneLine(strings.ReplaceAll(p.Words, `"`, "'")); most >= leastSaid && said != "" && !instructs(said) {
		about += `: "` + clip(said, most/4) + `"`
	}
	return "- " + strings.Join(p.Paths, ", ") + " (" + about + ")\n"
}
