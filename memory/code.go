package memory

import "strings"

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
