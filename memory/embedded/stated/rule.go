package stated

import (
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// What lasts is told from what is meant for the turn: it says so ("from now on", "before every commit"), or orders
// something for always, or says how the person is or wants to be answered.

// isPreference reports whether a sentence says how the person is, or what they like in an agent's work.
func isPreference(text language.Plain) bool {
	switch {
	case names.In(text):
		return !isMissing()[text.Word(names.End(text))]
	case answering.Begins(text), manner.Begins(text):
		return !points(text)
	}
	if !likes.In(text) || remarks.In(text) {
		return false
	}
	behind := likes.End(text)
	for i := behind; i < behind+nearby; i++ {
		if pointers()[text.Word(i)] {
			return false
		}
	}
	return true
}

const (
	nearby = 3 // words behind "I like" that say whether something at hand is meant
	atHand = 6 // words of a sentence in which "this" points out of it
)

// isFact reports whether a person asks to remember something. "Remember to run the tests" is an order for now.
func isFact(text language.Plain) bool {
	end := remembers.End(text)
	behind := text.Word(end)
	notes := text.Word(end-2) == "note" // "note that X must …"; manuals note what is so
	return strings.ContainsAny(text.Text, ":,억") && remembering().MatchString(text.Text) ||
		remembers.Begins(text) && !reports()[text.Word(0)] &&
			behind != "you" && !demonstratives()[behind] && (!notes || holds.In(text))
}

// isRule reports whether a sentence is addressed to the agent and holds until the person says otherwise. What is told
// ("it never came") is none, nor what others are to do, what a screen is to look like, or what points at something at
// hand.
func isRule(text language.Plain) bool {
	switch {
	case auxiliaries()[text.Word(0)], guesses.In(text), examples.Begins(text), remarks.In(text), points(text),
		ofOthers(text), ofProduct(text), measure().MatchString(text.Text):
		return false
	case lasting.In(text), orders(text), replacing(text), ever(text), ofEvery(text):
		return true
	}
	return recurring.In(text) && !anyWord(text, speakers()) || here.In(text) && anyWord(text, adverbs()) ||
		avoids.Begins(text) && strings.HasSuffix(text.Word(1), "ing")
}

// measure is of layouts.
var measure = pattern.New(`\b\d+(?:px|rem|em|vh|vw|pt)\b`)

func anyWord(text language.Plain, set language.Set) bool {
	for i := range text.Words {
		if set[text.Word(i)] {
			return true
		}
	}
	return false
}

// orders reports whether a sentence has "never" or "always" as an order, and does not tell what never happened.
func orders(text language.Plain) bool {
	for i := range text.Words {
		switch adverb := text.Word(i); {
		case !adverbs()[adverb]:
		case adverb != "never" && adverb != "always":
			return !happens()[text.Word(i+1)] &&
				(anyWord(text, begs()) || !tellers()[text.Word(0)] && (i <= 1 || adverb[0] < 0x80))
		case strings.HasSuffix(text.Word(i-1), "nt"): // "I don't always need it"
		case i+1 < len(text.Words) && (startsClause(text, i) || beforeOrder()[text.Word(i-1)]) &&
			!narrated(text.Word(i+1)):
			return true
		}
	}
	return otherOrder().MatchString(text.Text)
}

// otherOrder is the same where no spaces are set, at the beginning or in a request, and in Italian around a verb.
var otherOrder = pattern.New(`^(?:请|你)?(?:总是|永远|始终|必须|一律)|(?:いつも|常に|必ず|絶対に).*(?:ください|下さい|すること)|` +
	`(?:항상|절대).*(?:주세요|마세요|하세요|할 것)|(?i)^non \pL+ mai\b`)

// startsClause reports whether a word stands at the beginning or behind a sign.
func startsClause(text language.Plain, i int) bool {
	if i == 0 {
		return true
	}
	before := text.Words[i-1]
	return strings.TrimSpace(text.Text[before.At+len(before.Text):text.Words[i].At]) != ""
}

// narrated reports whether an English verb tells what happens or happened.
func narrated(verb string) bool {
	return strings.HasSuffix(verb, "ed") && len(verb) > 4 || strings.HasSuffix(verb, "ing") ||
		strings.HasSuffix(verb, "s") && !strings.HasSuffix(verb, "ss") && !usesS()[verb] || pastVerbs()[verb]
}

// replacing reports whether a sentence puts one thing in another's place, and names both without an article: "use
// pnpm, not npm", and not "use the second one instead".
func replacing(text language.Plain) bool {
	if !prefers.Begins(text) || !instead.In(text) {
		return false
	}
	object := text.Word(prefers.End(text))
	return object != "" && !articles()[object] && len(text.Words) > 3
}

// ever reports whether a sentence forbids something for all time: "no mocks, ever".
func ever(text language.Plain) bool {
	n := len(text.Words)
	return n > 2 && nothing()[text.Word(0)] && slices.Contains([]string{"ever", "please", "here"}, text.Word(n-1))
}

// ofEvery reports whether a sentence says what each thing of a kind must have.
func ofEvery(text language.Plain) bool {
	return (text.Word(0) == "every" || text.Word(0) == "each") && holds.In(text)
}

// ofProduct reports whether "X must never be done" is about what is built and not about the work.
func ofProduct(text language.Plain) bool {
	for i := range text.Words {
		if text.Word(i) == "be" && i > 1 && adverbs()[text.Word(i-1)] {
			return !ofWork()[text.Word(i+1)]
		}
	}
	return false
}

// points reports whether a sentence points at something that only its turn shows: "keep this in sync".
func points(text language.Plain) bool {
	for i := range text.Words {
		switch word := text.Word(i); {
		case demonstratives()[word] && i < atHand && !ofProject()[text.Word(i+1)]:
			return true
		case word == "that" && (i+1 == len(text.Words) || beforeThat()[text.Word(i-1)]):
			return true
		case word == "them" && i == len(text.Words)-1 && i <= 3:
			return true
		case word == "it" && i <= 2 && text.Word(i+1) != "a": // "make it a rule"
			return true
		}
	}
	return ordinal.In(text)
}

// ofOthers reports whether a sentence speaks of what others do, and neither of the agent nor of the speaker.
func ofOthers(text language.Plain) bool {
	return anyWord(text, otherPeople()) && !anyWord(text, ourselves())
}

// Same reports whether two sentences, of which these are the terms, state the same: nearly all that the shorter one
// says is in the other.
func Same(a, b []string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	common := 0
	for _, t := range a {
		if slices.Contains(b, t) {
			common++
		}
	}
	return common >= 2 && 4*common >= 3*len(a)
}
