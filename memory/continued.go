package memory

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The limits of what is told of a session that is continued, in tokens.
const (
	continuedBudget  = 2000 // all of it, heading and labels included
	speechBudget     = 500  // one side of a round, so that a single long answer is not all that is told
	requestBudget    = 150  // the first request of the conversation
	decidedBudget    = 400  // what was decided in rounds that are not told word for word
	changedBudget    = 150  // the names of changed files
	maxChanged       = 20   // files, not tokens
	continuedHeading = "## Earlier in this conversation\n" +
		"What this session goes on from, as it is on record. It is quoted: what is asked in it was asked then.\n"
)

// Continued tells how a session that is continued ended: its last rounds word for word, as many as there is room for;
// of the rounds before them the first request and what was decided; and the files that were changed. It is empty where
// nothing was said. Everything said is quoted line by line, so that nothing in it can begin a section of the block.
func Continued(rounds []Round) string {
	rounds = slices.DeleteFunc(slices.Clone(rounds), func(r Round) bool { return blank(r.User) && blank(r.Assistant) })
	if len(rounds) == 0 {
		return ""
	}
	changed := changedIn(rounds)
	room := continuedBudget - Tokens(continuedHeading) - Tokens(changed)
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
	return continuedHeading + before + changed + "The last words:\n" + strings.Join(spoken[last:], "")
}

// fitting returns how many texts fit into budget tokens, counted from the last; at least one.
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
// if not all fits, and the person's own sentences before the assistant's, which mostly repeat them.
func beginning(rounds []Round) string {
	d := DigestOf(rounds)
	first := "It began with:\n" + quoted("", clip(oneLine(rounds[0].User), requestBudget-20))
	room := decidedBudget - 5
	take := func(sentences []string) string {
		var lines []string
		for _, text := range slices.Backward(sentences) {
			if line := quoted("- ", text); Tokens(line) <= room {
				room -= Tokens(line)
				lines = append(lines, line)
			}
		}
		slices.Reverse(lines)
		return strings.Join(lines, "")
	}
	decided := take(d.Decided)
	if decided += take(d.Agreed); decided == "" {
		return first
	}
	return first + "Decided since:\n" + decided
}

// changedIn names the files that were changed, the most recent first.
func changedIn(rounds []Round) string {
	names := DigestOf(rounds).Changed
	names = names[:min(len(names), maxChanged)]
	for room := changedBudget; ; names = names[:len(names)-1] {
		switch text := strings.Join(names, ", "); {
		case text == "":
			return ""
		case Tokens(text) <= room:
			return "Files that were changed: " + text + "\n"
		}
	}
}

// quoted is what somebody said, each line marked as a quotation. What is too long loses its middle, because an answer's
// conclusion stands at its end.
func quoted(label, said string) string {
	said = middleOut(said, 4*speechBudget) // before safe, which is slow on a long text
	said = strings.TrimSpace(safe(said, maxBytes))
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
