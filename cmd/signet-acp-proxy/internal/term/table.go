package term

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

// A Column of a table.
type Column struct {
	Title string
	Least int  // its least width in columns; 0: it is never cut
	Spare int  // if not zero, it is left out where there is no room, the lowest first
	Left  bool // it is cut at its beginning
}

// A Table is rows of cells, one a column.
type Table struct {
	Columns []Column
	rows    [][]string
}

// Add adds a row.
func (t *Table) Add(cells ...string) {
	for i, cell := range cells {
		indent := len(cell) - len(strings.TrimLeft(cell, " "))
		cells[i] = cell[:indent] + chars.Printable(cell)
	}
	t.rows = append(t.rows, cells)
}

const gap = 2 // between columns

// Print writes the table within the screen's width.
func (t *Table) Print(s Screen) error {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = Width(c.Title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], Width(row[i]))
		}
	}
	if s.Width > 0 {
		t.fit(widths, s.Width)
	}
	titles := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		titles[i] = c.Title
	}
	var b strings.Builder
	b.WriteString(s.Paint(Bold, t.line(titles, widths)) + "\n")
	for _, row := range t.rows {
		b.WriteString(t.line(row, widths) + "\n")
	}
	_, err := io.WriteString(s.W, b.String())
	return err
}

// fit narrows columns until they fit into width; -1 stands for a column that is left out. A column is left out before
// others become narrower than their least width.
func (t *Table) fit(widths []int, width int) {
	whole := slices.Clone(widths)
	for {
		for total(widths) > width && t.narrow(widths) {
		}
		spared := t.spared(widths)
		if total(widths) <= width || spared < 0 {
			return
		}
		whole[spared] = -1
		copy(widths, whole) // there may be more room for the others than before
	}
}

// narrow takes a column of width from the widest that has more than its least.
func (t *Table) narrow(widths []int) bool {
	widest := -1
	for i, c := range t.Columns {
		if c.Least > 0 && widths[i] > c.Least && (widest < 0 || widths[i] > widths[widest]) {
			widest = i
		}
	}
	if widest < 0 {
		return false
	}
	widths[widest]--
	return true
}

// spared is the column that is left out next, -1 for none.
func (t *Table) spared(widths []int) int {
	spared := -1
	for i, c := range t.Columns {
		if c.Spare > 0 && widths[i] >= 0 && (spared < 0 || c.Spare < t.Columns[spared].Spare) {
			spared = i
		}
	}
	return spared
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

func (t *Table) line(cells []string, widths []int) string {
	var b strings.Builder
	for i, cell := range cells {
		if widths[i] < 0 {
			continue
		}
		if t.Columns[i].Left {
			cell = cutLeft(cell, widths[i])
		} else {
			cell = Cut(cell, widths[i])
		}
		b.WriteString(cell + strings.Repeat(" ", max(0, widths[i]-Width(cell))+gap))
	}
	return strings.TrimRight(b.String(), " ")
}

// A List prints a name and a value on each line, for one thing.
type List struct{ names, values []string }

// Add adds a line, if the value is not empty.
func (l *List) Add(name, value string) {
	if value = chars.Printable(value); value != "" {
		l.names, l.values = append(l.names, name), append(l.values, value)
	}
}

// Print writes the list.
func (l *List) Print(s Screen) {
	width := 0
	for _, name := range l.names {
		width = max(width, Width(name))
	}
	for i, name := range l.names {
		fmt.Fprintf(s.W, "%s%s%s\n", s.Paint(Bold, name), strings.Repeat(" ", width-Width(name)+gap), l.values[i])
	}
}
