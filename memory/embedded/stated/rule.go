package stated

import (
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
)

// isRule reports whether a sentence is a rule: it says that something holds always, or from now on, and is addressed
// to the agent. What holds only for now is none, nor what is told ("it never came"), nor what others are to do.
func isRule(text language.Plain, asks bool) bool {
	switch {
	case asks, auxiliaries()[text.Word(0)], passing.In(text), guesses.In(text), examples.Begins(text):
		return false
	case makesRule.In(text):
		return true
	case !lasting.In(text) && !shuns.Begins(text) && !orders(text):
		return false
	}
	return !ofOthers(text)
}

// orders reports whether a sentence has "never" or "always" as an order, and does not tell what never happened.
func orders(text language.Plain) bool {
	begged := false
	for i := range text.Words {
		begged = begged || begs()[text.Word(i)]
	}
	for i := range text.Words {
		switch adverb := text.Word(i); {
		case !adverbs()[adverb]:
		case adverb != "never" && adverb != "always":
			return begged || !tellers()[text.Word(0)] && (i <= 1 || adverb[0] < 0x80)
		case i+1 < len(text.Words) && (i == 0 || startsClause(text, i) || beforeOrder()[text.Word(i-1)]) &&
			!narrated(text.Word(i+1)):
			return true
		}
	}
	return false
}

// startsClause reports whether a word stands behind a sign.
func startsClause(text language.Plain, i int) bool {
	before := text.Words[i-1]
	return strings.TrimSpace(text.Text[before.At+len(before.Text):text.Words[i].At]) != ""
}

// narrated reports whether an English verb tells what happens or happened.
func narrated(verb string) bool {
	return strings.HasSuffix(verb, "ed") && len(verb) > 4 || strings.HasSuffix(verb, "ing") ||
		strings.HasSuffix(verb, "s") && !strings.HasSuffix(verb, "ss") && !usesS()[verb] || pastVerbs()[verb]
}

// ofOthers reports whether a sentence speaks of what others do, and neither of the agent nor of the speaker.
func ofOthers(text language.Plain) bool {
	others, us := false, false
	for i := range text.Words {
		others = others || otherPeople()[text.Word(i)]
		us = us || ourselves()[text.Word(i)]
	}
	return others && !us
}

const longestWish = 200 // bytes

// isWish reports whether a sentence tells the agent how to work, or complains how it does.
func isWish(text language.Plain, asks bool) bool {
	if oneTurn.In(text) || len(text.Text) > longestWish {
		return false
	}
	if asks {
		return complaints.Begins(text) && reproaches.Begins(text)
	}
	return complaints.Begins(text) || wishes.Begins(text) && text.Word(0) != "i"
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
