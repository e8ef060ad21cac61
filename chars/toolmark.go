package chars

import "strings"

// ToolMark stands in the stored answer of an agent where it called a tool, behind what it had said before. It is white
// space, so whoever does not know of it reads the same words.
const ToolMark = "\f"

// WithoutToolMarks returns an answer as it was said.
func WithoutToolMarks(answer string) string { return strings.ReplaceAll(answer, ToolMark, "") }
