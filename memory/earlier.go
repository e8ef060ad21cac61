package memory

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Round is what a person said in an earlier session, what was answered, and what came of it.
type Round struct {
	User, Assistant string
	Decided         []string // sentences of the person's that settle something
	Agreed          []string // sentences of the assistant's that settle something
	Changed         []string // paths of files that were changed
}

// The limits of what is told of an earlier session, in tokens.
const (
	earlierBudget  = 2000 // all of it, heading and labels included
	speechBudget   = 500  // one side of a round, so that a single long answer is not all that is told
	requestBudget  = 150  // the first request of the conversation
	decidedBudget  = 400  // what was decided in rounds that are not told word for word
	changedBudget  = 150  // the names of changed files
	mostChanged    = 20   // files, not tokens
	earlierHeading = "## Earlier in this conversation\n" +
		"What this session goes on from, as it is on record. It is quoted: what is asked in it was asked then.\n"
)

// Earlier tells how an earlier session ended: its last rounds word for word, as many as there is room for; of the
// rounds before them the first request and what was decided; and the files that were changed. It is empty where nothing
// was said. Everything said is quoted line by line, so that nothing in it can begin a section of the block.
func Earlier(rounds []Round) string {
	rounds = slices.DeleteFunc(slices.Clone(rounds), func(r Round) bool { return blank(r.User) && blank(r.Assistant) })
	if len(rounds) == 0 {
		return ""
	}
	changed := changedIn(rounds)
	room := earlierBudget - Tokens(earlierHeading) - Tokens(changed)
	spoken := make([]string, len(rounds))
	for i, r := range rounds {
		spoken[i] = quoted("User: ", r.User) + quoted("Assistant: ", r.Assistant)
	}
	last := len(rounds) - fitting(spoken, room)
	before := ""
	if last > 0 { // then not all is told, and there is something to say of the rest
		last = len(rounds) - fitting(spoken, room-requestBudget-decidedBudget)
		before = beginning(rounds[:last])
		last = len(rounds) - fitting(spoken, room-Tokens(before))
	}
	return earlierHeading + before + changed + "The last words:\n" + strings.Join(spoken[last:], "")
}

// fitting gives how many texts fit into budget tokens, counted from the last; at least one.
func fitting(texts []string, budget int) (n int) {
	for _, text := range slices.Backward(texts) {
		if budget -= Tokens(text) + 1; budget < 0 {
			break
		}
		n++
	}
	return max(n, 1)
}

// beginning says what rounds that are not told word for word were about, and what was decided in them: the newest,
// if not all fits.
func beginning(rounds []Round) string {
	first := "It began with:\n" + quoted("", clip(oneLine(rounds[0].User), requestBudget-20))
	room := decidedBudget - 5
	var decided []string
	take := func(sentences []string) (lines []string) {
		for _, text := range sentences {
			line := quoted("- ", oneLine(text))
			if slices.Contains(decided, line) || room < Tokens(line) {
				continue
			}
			room -= Tokens(line)
			decided, lines = append(decided, line), append(lines, line)
		}
		return lines
	}
	told := make([][]string, len(rounds)) // the person's own sentences first: the assistant mostly repeats them
	for i, r := range slices.Backward(rounds) {
		told[i] = take(r.Decided)
	}
	for i, r := range slices.Backward(rounds) {
		told[i] = append(told[i], take(r.Agreed)...)
	}
	if len(decided) == 0 {
		return first
	}
	return first + "Decided since:\n" + strings.Join(slices.Concat(told...), "")
}

// changedIn names the files that were changed, the most recent first.
func changedIn(rounds []Round) string {
	var names []string
	room := changedBudget
	for _, r := range slices.Backward(rounds) {
		for _, path := range slices.Backward(r.Changed) {
			name := oneLine(filepath.ToSlash(path))
			if name == "" || slices.Contains(names, name) || len(names) == mostChanged {
				continue
			}
			if room -= Tokens(name) + 1; room < 0 {
				break
			}
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "Files that were changed: " + strings.Join(names, ", ") + "\n"
}

// quoted is what somebody said, each line marked as a quotation. What is too long loses its middle, because an answer's
// conclusion stands at its end.
func quoted(label, said string) string {
	said = middleOut(said, 4*speechBudget) // before safe, which is slow on a long text
	said = strings.TrimSpace(safe(said, mostBytes))
	if said == "" {
		return ""
	}
	for room := speechBudget; ; room /= 2 { // the quotation marks of many short lines take room, too
		var b strings.Builder
		for line := range strings.Lines(label + middleOut(said, room)) {
			b.WriteString(strings.TrimRight("> "+strings.TrimRight(line, "\n"), " ") + "\n")
		}
		if Tokens(b.String()) <= speechBudget+speechBudget/4 {
			return b.String()
		}
	}
}

// middleOut shortens text to budget tokens by cutting its middle out.
func middleOut(text string, budget int) string {
	const mark = "\n[…]\n"
	if quarters(text) <= 4*budget {
		return text
	}
	half := (4*budget - quarters(mark)) / 2
	head, tail := 0, len(text)
	for left := half; ; {
		_, n := utf8.DecodeRuneInString(text[head:])
		if left -= quarters(text[head : head+n]); left < 0 {
			break
		}
		head += n
	}
	for left := half; ; {
		_, n := utf8.DecodeLastRuneInString(text[:tail])
		if left -= quarters(text[tail-n : tail]); left < 0 {
			break
		}
		tail -= n
	}
	return strings.TrimRight(text[:head], " \n") + mark + strings.TrimLeft(text[tail:], " \n")
}
