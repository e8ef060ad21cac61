package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
)

// A screen is where a command's answer goes, as it may be used: nothing is
// cut and nothing coloured unless a person looks at it.
type screen struct {
	w      io.Writer
	width  int // columns; 0: no limit
	colour bool
}

func screenOn(w io.Writer) screen {
	s := screen{w: w}
	if f, ok := w.(*os.File); ok && isTerminal(f) {
		s.width = terminalWidth(f)
		s.colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return s
}

// Attributes of text (ECMA-48).
const (
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (s screen) paint(attribute, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + attribute + "m" + text + "\x1b[0m"
}

// A column of a table.
type column struct {
	title string
	least int // how narrow it may become; 0: never cut
	spare int // when not zero: it goes where there is no room, the lowest first
}

// A table is rows of cells, one a column.
type table struct {
	columns []column
	rows    [][]string
}

func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = printable(cells[i])
	}
	t.rows = append(t.rows, cells)
}

const gap = 2 // between columns

// print writes the table within the screen's width.
func (t *table) print(s screen) error {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		widths[i] = displayWidth(c.title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], displayWidth(row[i]))
		}
	}
	if s.width > 0 {
		t.fit(widths, s.width)
	}
	titles := make([]string, len(t.columns))
	for i, c := range t.columns {
		titles[i] = c.title
	}
	var b strings.Builder
	b.WriteString(s.paint(bold, line(titles, widths)) + "\n")
	for _, row := range t.rows {
		b.WriteString(line(row, widths) + "\n")
	}
	_, err := io.WriteString(s.w, b.String())
	return err
}

// fit narrows columns until they fit into width; -1 stands for a column that is left out.
func (t *table) fit(widths []int, width int) {
	for over := total(widths) - width; over > 0; over = total(widths) - width {
		widest, dropped := -1, -1
		for i, c := range t.columns {
			if c.least > 0 && widths[i] > c.least && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
			if c.spare > 0 && widths[i] >= 0 && (dropped < 0 || c.spare < t.columns[dropped].spare) {
				dropped = i
			}
		}
		switch {
		case widest >= 0:
			widths[widest]--
		case dropped >= 0:
			widths[dropped] = -1
		default:
			return
		}
	}
}

func total(widths []int) int {
	n := -gap
	for _, w := range widths {
		if w >= 0 {
			n += w + gap
		}
	}
	return n
}

func line(cells []string, widths []int) string {
	var b strings.Builder
	for i, cell := range cells {
		if widths[i] < 0 {
			continue
		}
		cell = cut(cell, widths[i])
		b.WriteString(cell + strings.Repeat(" ", widths[i]-displayWidth(cell)+gap))
	}
	return strings.TrimRight(b.String(), " ")
}

// cut shortens text to width columns.
func cut(text string, width int) string {
	if displayWidth(text) <= width {
		return text
	}
	used := 0
	for i, r := range text {
		if used += runeWidth(r); used > width-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// printable takes out of text what a terminal would act on, and line ends.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.TrimSpace(text))
}

func displayWidth(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

// runeWidth is how many columns a character takes.
func runeWidth(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul), r >= 0xFF01 && r <= 0xFF60, r >= 0x1F300 && r <= 0x1FAFF:
		return 2
	}
	return 1
}

// A list is a name and a value a line, for one thing.
type list struct{ names, values []string }

// add leaves out what has no value.
func (l *list) add(name, value string) {
	if value = printable(value); value != "" {
		l.names, l.values = append(l.names, name), append(l.values, value)
	}
}

func (l *list) print(s screen) {
	width := 0
	for _, name := range l.names {
		width = max(width, displayWidth(name))
	}
	for i, name := range l.names {
		fmt.Fprintf(s.w, "%s%s%s\n", s.paint(bold, name), strings.Repeat(" ", width-displayWidth(name)+gap), l.values[i])
	}
}
