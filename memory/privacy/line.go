package privacy

import "strings"

const maxLine = 1 << 10 // bytes of a line of a table or of YAML; a longer one is neither

// lineStart returns where the line of i begins, or where it would be too long.
func lineStart(text string, i int) int {
	least := max(0, i-maxLine)
	return least + strings.LastIndexByte(text[least:i], '\n') + 1
}

// lineFrom returns where the line behind the one at i begins.
func lineFrom(text string, i int) int {
	if end := strings.IndexByte(text[i:], '\n'); end >= 0 {
		return i + end + 1
	}
	return len(text)
}
