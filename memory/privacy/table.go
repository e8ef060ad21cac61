package privacy

import "strings"

// tabled reports whether the name n stands in a row of a Markdown table, and adds what the table gives it: the cells
// below, where it heads a column, or else the cell beside it.
func (f *findings) tabled(text string, n name) bool {
	start := lineStart(text, n.start)
	if !strings.HasPrefix(strings.TrimLeft(text[start:n.start], " \t"), "|") {
		return false
	}
	column := strings.Count(text[start:n.start], "|")
	behind := strings.TrimLeft(text[n.end:min(len(text), n.end+maxName)], " \t*_`:")
	if !strings.HasPrefix(behind, "|") {
		return true
	}
	next, row := lineFrom(text, start), ""
	if end := lineFrom(text, next); end > next {
		row = text[next:end]
	}
	if strings.Trim(row, " \t\r\n|:-") != "" || !strings.Contains(row, "-") {
		f.cell(text, start, column+1, n)
		return true
	}
	for at := lineFrom(text, next); at < len(text) && at-n.end < maxValue; at = lineFrom(text, at) {
		if !strings.HasPrefix(strings.TrimLeft(text[at:], " \t"), "|") {
			break
		}
		f.cell(text, at, column, n)
	}
	return true
}

// cell adds the cell of a column, if it is a secret; the first column is 1.
func (f *findings) cell(text string, start, column int, n name) {
	line, at := text[start:lineFrom(text, start)], 0
	for ; column > 0; column-- {
		next := strings.IndexByte(line[at:], '|')
		if next < 0 {
			return
		}
		at += next + 1
	}
	value, _, closed := strings.Cut(line[at:], "|")
	trimmed := strings.TrimLeft(value, " \t*_`\"'")
	at += len(value) - len(trimmed)
	a := assignment{n, strings.TrimRight(trimmed, " \t*_`\"'"), false, "|", false}
	if closed && !strings.ContainsAny(a.value, space) && a.isSecret() {
		f.addNamed(start+at, start+at+len(a.value), a.kind())
	}
}
