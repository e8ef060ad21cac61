package privacy

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

var (
	yamlLine    = pattern.New(`^[ \t]*(?:- )?["']?[\w./-]+["']?:(?:[ \t]+[^\n]*)?\r?$`)
	blockHeader = pattern.New(`^["']?:[ \t]+[|>][+-]?\d?[ \t]*\r?\n([ \t]*)(\S+)[ \t]*\r?(?:\n|$)`)
)

// inYAML reports whether the line of i and one beside it are lines of YAML: in prose, and in code of most languages,
// they are not.
func (f *findings) inYAML(text string, i int) bool {
	start, end := lineStart(text, i), lineFrom(text, i)
	before, after := "", text[end:lineFrom(text, end)]
	if start > 0 {
		before = text[lineStart(text, start-1) : start-1]
	}
	switch {
	case !isYAML(text[start:end]):
		return false
	case isYAML(before), isYAML(after):
		return true
	case !strings.HasSuffix(after, "\n"): // the next line decides, and has not come
		f.wait(i, "")
	}
	return false
}

func isYAML(line string) bool {
	line = strings.TrimRight(line, " \t\r\n")
	return line != "" && len(line) < maxLine &&
		strings.IndexByte(",;{([", line[len(line)-1]) < 0 && yamlLine().MatchString(line)
}

// blockScalar returns the one line of a value that begins below its name, behind | or >, and where it stands; 0: there
// is none. end is the name's.
func blockScalar(text string, end int) (value string, at int) {
	m := blockHeader().FindStringSubmatchIndex(text[end:min(len(text), end+maxValue)])
	if m == nil || m[2] == m[3] {
		return "", 0
	}
	return text[end+m[4] : end+m[5]], end + m[4]
}
