package chars

import "strings"

// BlockMark stands in a stored prompt where one of its blocks ends and the next begins: what a person typed is in the
// first. It is white space that nobody types.
const BlockMark = "\v\n"

// WithoutBlockMarks returns a prompt as it is shown.
func WithoutBlockMarks(prompt string) string { return strings.ReplaceAll(prompt, BlockMark, "\n") }
