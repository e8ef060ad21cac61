package signet

import (
	"regexp"
	"strings"
)

var (
	// The fences that daemons put around what they inject, alone on their line.
	fence = regexp.MustCompile(`(?i)^\s*</?(?:signet-memory-context|signet-memory|memory-context)\b[^<>]*>\s*$`)

	feedbackOpen  = regexp.MustCompile(`(?i)^\s*<memory-feedback\b[^<>]*>`)
	feedbackClose = regexp.MustCompile(`(?i)</memory-feedback\s*>\s*$`)

	// What a daemon says of itself. It changes from call to call and tells a
	// model nothing.
	status = regexp.MustCompile(`(?i)^\s*(?:` + strings.Join([]string{
		`\[memory active\b[^\]]*\]`,
		`\[predictor:[^\]]*\]`,
		`\[since last session:[^\]]*\]`,
		`\[signet: [^\]]*\]`,
		`\[signet:recall \|.*\]`,
		`\(\+\d+ more not shown\b.*\)`,
		`current date(?:/time)?: .*`,
	}, "|") + `)\s*$`)

	clock   = regexp.MustCompile(`(?i)^\s*#{1,6}\s+current date (?:&|and) time\s*$`)
	another = regexp.MustCompile(`^\s*(?:[#<>\[\-*|]|$)`) // cannot be the clock's one line
)

// clean takes out of an inject what is not for a model: fences, requests for
// feedback, status lines and the clock, which would make every session's prompt
// differ. It goes by whole lines and leaves every other line and their order
// alone; headings are not trusted to say where text comes from, since a file
// can forge them. clean(clean(s)) == clean(s).
func clean(s string) string {
	lines := strings.Split(newlines(s), "\n")
	kept := lines[:0]
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case fence.MatchString(line), status.MatchString(line):
		case feedbackOpen.MatchString(line), feedbackClose.MatchString(line):
			i += feedback(lines[i:])
		case clock.MatchString(line):
			if i+1 < len(lines) && !another.MatchString(lines[i+1]) {
				i++
			}
		case strings.TrimSpace(line) == "" && (len(kept) == 0 || kept[len(kept)-1] == ""):
		case strings.TrimSpace(line) == "":
			kept = append(kept, "")
		default:
			kept = append(kept, line)
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// feedback gives how many lines after the first belong to a request for
// feedback that the first opens; none when nothing closes it.
func feedback(lines []string) int {
	if !feedbackOpen.MatchString(lines[0]) {
		return 0
	}
	for n, line := range lines {
		if feedbackClose.MatchString(line) {
			return n
		}
	}
	return 0
}

func newlines(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
