package memory

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A Round is what a person said in an earlier session, what was answered, and what came of it.
type Round struct {
	User, Assistant string
	Thin            bool // User says too little to be a goal
	At              time.Time
	Asker, Agent    string   // who said User: "user", or another agent for which this one worked; and who answered
	Result          string   // the beginning of what the agent said behind its last tool call
	Decided, Agreed []string // sentences of the asker's and of the agent's that settle something
	Failed          string   // what the answer before did and, in the asker's words, that it did not help
	GaveUp          []string // the agent's
	Next            string   // what the result leaves to be done
	Question        string   // of the agent's, which nothing that follows answers
	Plan            []string // the steps of its last plan that are not done
	Planned         bool     // it made a plan
	Changed         []string // paths of files
	Check           string   // the last command that checked something, and how it ended
}

// A Saying is what somebody said or did, and when.
type Saying struct {
	Who  string
	At   time.Time
	Text string
}

// A Brief is what matters of a conversation to whoever goes on with it, made without a model.
type Brief struct {
	Goal                  Saying // in the asker's first words
	Decided, Open, GaveUp []Saying
	Changed               []string // files, the last first
	Committed             []string // of these; nil: not known
	Check                 Saying
	Result                string // the beginning of the last result

	rounds []Round
}

// The limits of a brief, in tokens.
const (
	briefBudget   = 2000 // all of it, heading and labels included
	speechBudget  = 500  // one side of a round, so that a single long answer is not all that is told
	goalBudget    = 130
	decidedBudget = 450
	openBudget    = 250
	gaveUpBudget  = 150
	changedBudget = 150 // the names of changed files
	checkBudget   = 60
	sayingBudget  = 80
	briefHeading  = "## Earlier in this conversation\n" +
		"What this session goes on from, as it is on record. It is quoted: what is asked in it was asked then.\n"
	wordsHeading = "The last words:\n"
)

// BriefOf makes the brief of a conversation from its rounds, in order.
func BriefOf(rounds []Round) (b Brief) {
	silent := func(r Round) bool { return blank(r.User) && blank(r.Assistant) }
	b.rounds = slices.DeleteFunc(slices.Clone(rounds), silent)
	var plan []Saying
	var next, question Saying
	for _, r := range b.rounds {
		if b.Goal.Text == "" && !r.Thin {
			b.Goal = r.says(r.Asker, r.User)
		}
		b.Decided = addNew(b.Decided, b.Goal, r.all(r.Asker, r.Decided))
		b.GaveUp = addNew(b.GaveUp, Saying{}, append([]Saying{r.says(r.Asker, r.Failed)},
			r.all(r.Agent, r.GaveUp)...))
		if r.Planned {
			plan = addNew(nil, Saying{}, r.all(r.Agent+", planned", r.Plan))
		}
		if !blank(r.Result) {
			b.Result, next = oneLine(r.Result), r.says(r.Agent+", left to do", r.Next)
		}
		question = r.says(r.Agent+" asked", r.Question)
		if r.Check != "" {
			b.Check = r.says(r.Agent, r.Check)
		}
	}
	for _, r := range b.rounds { // of what the asker said, the agent mostly says the same
		b.Decided = addNew(b.Decided, b.Goal, r.all(r.Agent, r.Agreed))
	}
	if b.Goal.Text == "" && len(b.rounds) > 0 {
		b.Goal = b.rounds[0].says(b.rounds[0].Asker, b.rounds[0].User)
	}
	slices.SortStableFunc(b.Decided, func(x, y Saying) int { return x.At.Compare(y.At) })
	b.Open = addNew(plan, Saying{}, []Saying{next, question})
	for _, r := range slices.Backward(b.rounds) {
		for _, path := range slices.Backward(r.Changed) {
			if name := oneLine(filepath.ToSlash(path)); name != "" && !slices.Contains(b.Changed, name) {
				b.Changed = append(b.Changed, name)
			}
		}
	}
	return b
}

// says is a text of the round as somebody's saying.
func (r Round) says(who, text string) Saying { return Saying{who, r.At, oneLine(text)} }

func (r Round) all(who string, texts []string) (list []Saying) {
	for _, text := range texts {
		list = append(list, r.says(who, text))
	}
	return list
}

// addNew adds to a list what neither it nor first says yet.
func addNew(list []Saying, first Saying, more []Saying) []Saying {
	for _, s := range more {
		same := func(have Saying) bool { return have.Text == s.Text }
		if s.Text != "" && !same(first) && !slices.ContainsFunc(list, same) {
			list = append(list, s)
		}
	}
	return list
}

// Text is the section of a block that hands the conversation over: the last rounds word for word, as many as there is
// room for, behind what matters of all. It is empty where nothing was said. What was said is quoted line by line, so
// that nothing in it can begin a section of the block.
func (b Brief) Text() string {
	if len(b.rounds) == 0 {
		return ""
	}
	room := briefBudget - Tokens(briefHeading+wordsHeading)
	least, _ := b.words(0)
	about := b.about(room-Tokens(least), false)
	words, all := b.words(room - Tokens(about))
	if !all {
		last := b.rounds[len(b.rounds)-1]
		b.Open = addNew(b.Open, Saying{}, []Saying{last.says(last.Asker+" asked last", last.User)})
		about = b.about(room-Tokens(least), true)
		words, _ = b.words(room - Tokens(about))
	}
	return briefHeading + about + wordsHeading + words
}

// about is what stands before the last words, in at most room tokens; with what was said, where not all of that is
// quoted.
func (b Brief) about(room int, said bool) string {
	in := func(most int, text func(budget int) string) string {
		t := text(min(most, room))
		room -= Tokens(t)
		return t
	}
	list := func(heading string, all []Saying, most int) string {
		return in(most, func(budget int) string { return listed(heading, all, budget) })
	}
	goal, decided := "", ""
	if said {
		goal = in(goalBudget, func(budget int) string {
			return "The goal, in the first words:\n" + quoted("", clip(b.Goal.Text, budget-20))
		})
	}
	open := list("Open:\n", b.Open, openBudget)
	if said {
		decided = list("Decided:\n", b.Decided, decidedBudget)
	}
	check := in(checkBudget, func(budget int) string {
		if b.Check.Text == "" {
			return ""
		}
		return "The last check:\n" + b.Check.line(budget-10)
	})
	files := in(changedBudget, b.files)
	return goal + decided + open + list("Tried and given up:\n", b.GaveUp, gaveUpBudget) + files + check
}

// words quotes the last rounds, as many as fit into budget tokens; at least one.
func (b Brief) words(budget int) (text string, all bool) {
	for i, r := range slices.Backward(b.rounds) {
		round := quoted("User: ", r.User) + quoted("Assistant: ", r.Assistant)
		if budget -= Tokens(round) + 1; budget < 0 && text != "" {
			return text, false
		}
		text, all = round+text, i == 0 && budget >= 0
	}
	return text, all
}

// Outcome is what whoever asked for the work has to know beside the answer and the changes.
func (b Brief) Outcome() string {
	b.Changed = nil
	decided := listed("Decided:\n", b.Decided, decidedBudget)
	return decided + b.about(briefBudget-Tokens(decided), false)
}

// listed lists sayings under a heading: the newest, if not all fit, and the asker's before the agent's.
func listed(heading string, all []Saying, budget int) string {
	lines := make([]string, len(all))
	budget -= Tokens(heading)
	for _, byAgent := range []bool{false, true} {
		for i, s := range slices.Backward(all) {
			if line := s.line(sayingBudget); (s.Who != asker) == byAgent && Tokens(line) <= budget {
				lines[i] = line
				budget -= Tokens(line)
			}
		}
	}
	if text := strings.Join(lines, ""); text != "" {
		return heading + text
	}
	return ""
}

// asker is what a person is called.
const asker = "user"

func (s Saying) line(budget int) string {
	about := s.Who
	if !s.At.IsZero() {
		about += ", " + s.At.UTC().Format("2006-01-02 15:04")
	}
	return quoted("- ("+about+") ", clip(s.Text, budget))
}

// files names the files that were changed, the most recent first.
func (b Brief) files(budget int) string {
	if b.Committed == nil {
		return named("Files edited: ", b.Changed, budget)
	}
	var left, elsewhere []string
	for _, name := range b.Changed {
		switch {
		case filepath.IsAbs(name):
			elsewhere = append(elsewhere, name)
		case !slices.Contains(b.Committed, name):
			left = append(left, name)
		}
	}
	text := named("Files edited, not committed: ", left, budget)
	text += named("Files edited and committed: ", b.Committed, budget-Tokens(text))
	return text + named("Files edited elsewhere: ", elsewhere, budget-Tokens(text))
}

// named names as many files as fit.
func named(label string, names []string, budget int) string {
	for more := ""; len(names) > 0; names, more = names[:len(names)-1], ", …" {
		if line := label + strings.Join(names, ", ") + more + "\n"; Tokens(line) <= budget {
			return line
		}
	}
	return ""
}

// The limits of a brief on one line, in tokens unless they say otherwise.
const (
	lineGoal     = 35
	lineDecided  = 2 // the last
	lineDecision = 25
	lineResult   = 50
	lineOpen     = 25
	lineFiles    = 4 // the last
	lineNames    = 25
	lineBudget   = 110
	shortBudget  = 68 // of a line that is one of several
)

// Line is a brief on one line, some 400 bytes. It is empty where nothing was said.
func (b Brief) Line() string {
	var parts []string
	add := func(label, text string, budget int) {
		if text != "" {
			parts = append(parts, label+clip(text, budget))
		}
	}
	add("began with: ", b.Goal.Text, lineGoal)
	decided := slices.DeleteFunc(slices.Clone(b.Decided), func(s Saying) bool { return s.Who != asker })
	for _, s := range decided[max(len(decided)-lineDecided, 0):] {
		add("decided: ", s.Text, lineDecision)
	}
	add("last result: ", b.Result, lineResult)
	var open []string
	for _, s := range b.Open {
		open = append(open, s.Text)
	}
	add("open: ", strings.Join(open, "; "), lineOpen)
	add("files: ", strings.Join(b.Changed[:min(len(b.Changed), lineFiles)], ", "), lineNames)
	return clip(strings.Join(parts, " / "), lineBudget)
}

// Short is a line that shares its room with others.
func (b Brief) Short() string { return clip(b.Line(), shortBudget) }

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
