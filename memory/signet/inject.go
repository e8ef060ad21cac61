package signet

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// maxText bounds what is read of a text, in bytes: ten times what a block holds.
const maxText = 256 << 10

var (
	// fence matches the tags that daemons put around what they inject, alone on their line. A closing tag of feedback
	// that nothing opened counts, too.
	fence = pattern.New(`(?i)^\s*<(?:/?(?:signet-memory-context|signet-memory|memory-context)|/memory-feedback)\b[^<>]*>\s*$`)

	feedbackOpen  = pattern.New(`(?i)^\s*<memory-feedback\b[^<>]*>`)
	feedbackClose = pattern.New(`(?i)</memory-feedback\s*>\s*$`)

	// status matches lines that a daemon says of itself. They change from call to call and tell a model nothing.
	status = pattern.New(`(?i)^\s*(?:` + strings.Join([]string{
		`\[memory active\b[^\]]*\]`,
		`\[predictor:[^\]]*\]`,
		`\[since last session:[^\]]*\]`,
		`\[signet: [^\]]*\]`,
		`\[signet:recall \|.*\]`,
		`\(\+\d+ more not shown\b.*\)`,
		`current date(?:/time)?: \d{4}-\d{2}-\d{2}.*`,
	}, "|") + `)\s*$`)

	clock    = pattern.New(`(?i)^\s*#{1,6}\s+current date (?:&|and) time\s*$`)
	notClock = pattern.New(`^\s*(?:[#<>\[\-*|]|$)`) // a line that cannot be the clock's
)

// toolNotesOpen begins what a daemon from 0.145 on says of itself and its tools.
const toolNotesOpen = "[signet active]"

var statusOpen = pattern.New(`(?m)^[ \t]*\[memory active\b`)

// cutToolNotes cuts off the text with which 0.145.8 begins an inject: about 2 KB on its tools, up to its first status
// line. None of the user's files stands before that.
func cutToolNotes(s string) (notes, rest string) {
	s = newlines(chars.Cut(s, maxText))
	open := strings.TrimLeft(s, " \t\n")
	if first, behind, _ := strings.Cut(open, "\n"); fence().MatchString(first) {
		open = strings.TrimLeft(behind, " \t\n")
	}
	at := statusOpen().FindStringIndex(open)
	if !strings.HasPrefix(open, toolNotesOpen) || at == nil {
		return "", s
	}
	return open[:at[0]], open[at[0]:]
}

var memoriesHeading = pattern.New(`^## Relevant Memories \(auto-loaded \|.*\)$`)

// cutMemories removes the list of memories from a cleaned text, because they are items already. A line is removed only
// if it says one of the items, and the heading only if such a line follows, because a file can forge it.
func cutMemories(s string, items []memory.Item) string {
	if len(items) == 0 {
		return s
	}
	said := map[string]bool{}
	for _, it := range items {
		said[chars.OneLine(it.Text)] = true
	}
	lines := strings.Split(s, "\n")
	var kept []string
	for i := 0; i < len(lines); i++ {
		if !memoriesHeading().MatchString(lines[i]) {
			kept = append(kept, lines[i])
			continue
		}
		next := i + 1
		for next < len(lines) && lines[next] == "" {
			next++
		}
		last := next
		for last < len(lines) && listed(lines[last], said) {
			last++
		}
		if last == next {
			kept = append(kept, lines[i])
			continue
		}
		i = last - 1
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// listed reports whether a line is a memory as a start lists it: "- content [tags] (date)".
func listed(line string, said map[string]bool) bool {
	content, ok := strings.CutPrefix(line, "- ")
	if !ok {
		return false
	}
	content = strings.TrimSpace(itemDate().ReplaceAllString(content, ""))
	if said[chars.OneLine(content)] {
		return true
	}
	if at := strings.LastIndex(content, " ["); at > 0 && strings.HasSuffix(content, "]") {
		return said[chars.OneLine(content[:at])]
	}
	return false
}

// clean removes from an inject what is not for a model: fences, requests for feedback, status lines and the clock,
// which would make every session's prompt differ. It removes whole lines and leaves every other line, and the order,
// alone; code stays as it is, and so do the lines of the user's own files, but for fences. It reads maxText bytes.
// clean(clean(s)) == clean(s).
func clean(s string) string {
	lines := strings.Split(newlines(chars.Cut(s, maxText)), "\n")
	var kept []string
	asked := -1 // the place in kept where a request for feedback began; without an end only its first line goes
	before := plainLine
	for i, kind := range kindsOf(lines) {
		if kind == feedbackLine && asked < 0 {
			asked = len(kept)
		}
		switch {
		case asked >= 0 && kind != codeLine && closesFeedback(lines[i]):
			kept, asked = kept[:asked], -1
		case before == clockLine && !notClock().MatchString(lines[i]): // the time
		case kind == plainLine, kind == codeLine:
			kept = append(kept, lines[i])
		case kind == blankLine && len(kept) > 0 && kept[len(kept)-1] != "":
			kept = append(kept, "")
		}
		before = kind
	}
	return strings.TrimRight(strings.Join(kept, "\n"), " \t\n")
}

// kindsOf returns what each line is. Code is code, and in the user's own files only fences are no plain lines.
func kindsOf(lines []string) []lineKind {
	code := memory.Code(lines)
	from, to := ownLines(lines, code)
	kinds := make([]lineKind, len(lines))
	for i, line := range lines {
		if kinds[i] = codeLine; code[i] {
			continue
		}
		if kinds[i] = kindOf(line); from <= i && i < to && kinds[i] > noiseLine {
			kinds[i] = plainLine
		}
	}
	return kinds
}

// ownLines returns where the user's own files stand in a start's text: from the heading of the first one up to the list
// of memories. What they say like a status or the clock is theirs.
func ownLines(lines []string, code []bool) (from, to int) {
	for from < len(lines) && (code[from] || !holdsFiles().MatchString(lines[from])) {
		from++
	}
	for i := from; i < len(lines); i++ {
		if !code[i] && memoriesHeading().MatchString(lines[i]) {
			to = i
		}
	}
	if to == 0 {
		to = len(lines)
	}
	return from, to
}

// A lineKind is what a line of an inject is.
type lineKind int

const (
	plainLine lineKind = iota // it stays
	codeLine                  // so does it
	blankLine                 // one of several stays
	noiseLine                 // a fence
	statusLine
	feedbackLine // begins a request for feedback
	clockLine    // the heading of the clock
)

func kindOf(line string) lineKind {
	bare := strings.TrimLeft(line, " \t\f")
	switch {
	case strings.TrimSpace(line) == "":
		return blankLine
	case strings.IndexByte("<[(#cC", bare[0]) < 0: // cheaper than the patterns
		return plainLine
	case fence().MatchString(line):
		return noiseLine
	case status().MatchString(line):
		return statusLine
	case feedbackOpen().MatchString(line):
		return feedbackLine
	case clock().MatchString(line):
		return clockLine
	}
	return plainLine
}

func closesFeedback(line string) bool {
	return strings.HasSuffix(strings.TrimRight(line, " \t\f"), ">") && feedbackClose().MatchString(line)
}
