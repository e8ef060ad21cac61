package embedded

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A note is what is worth keeping of a turn: a sentence or two that stand alone.
type note struct {
	kind     string // preference, decision, fact, request, answer
	origin   string // user, assistant
	personal bool   // true of the person, whatever the project
	context  string // the request, for the search
	content  string
}

// Origins of a memory.
const (
	fromUser      = "user"
	fromAssistant = "assistant"
)

// The rules. All are tried on a sentence of one side; the first kind that fits names it.
var (
	// Nobody needs these again.
	smallTalk = newPattern(`(?i)^(?:(?:hi|hello|hey|thanks?|thank you|thx|ok(?:ay)?|yes|no|yep|nope|sure|great|perfect|nice|cool|good (?:morning|job|evening)|please|go ahead|continue|lgtm|sounds good|looks good|danke|hallo|merci|bonjour|gracias|hola|bitte|好的|谢谢|你好|ありがとう)(?:[\s,!.。]+|$))+(?:\S+ ?){0,2}$`)
	narration = newPattern(`(?i)^(?:(?:ok(?:ay)?|sure|great|perfect|now|next|first|then|alright|good|certainly|of course|absolutely|done|got it|understood)[,.!:]? ?)*(?:i'?ll |i will |i'm going to |i am going to |i'm (?:now )?(?:looking|checking|running|reading)|let me |let's (?:look|check|see|start|run|take|first)|looking at|checking|reading|running|searching|here(?:'s| is| are) (?:the|a|what|how|my|your|an)\b[^.]*:?$|would you like|do you want|shall i|should i |want me to|let me know|feel free|is there anything|happy to|glad|you're welcome|i hope|if you(?:'d| would)? (?:like|want|need)|i can (?:also )?|as an ai|i don'?t have (?:access|any)|ich werde|lass mich|je vais|voy a|让我|我来)`)

	preference = newPattern(`(?i)\b(?:i (?:(?:really|strongly|always|usually|generally|personally) )?(?:prefer|like|love|hate|dislike|want|favou?r)|i'd rather|i don'?t (?:like|want)|i (?:always|never) |my (?:favou?rite|preferred|preference)|please (?:always|never)|call me|my name is|i am (?:a|an|the|from|based|working|vegetarian|allergic)|i'm (?:a|an|the|from|based|working|vegetarian|allergic)|i live|i work|ich (?:bevorzuge|mag|möchte|will|hasse|heiße|arbeite|wohne)|mir ist .* lieber|je (?:préfère|veux|déteste|m'appelle|travaille)|prefiero|no me gusta|me gusta|me llamo|prefiro|preferisco)|我(?:喜欢|更喜欢|偏好|不喜欢|讨厌|习惯|叫)|(?:好き|嫌い|好みは)|나는 .*(?:좋아|선호)`)
	decision   = newPattern(`(?i)\b(?:we(?:'ve| have)? (?:decided|agreed|chose|chosen|picked|settled|moved|switched|migrated|replaced|dropped|renamed|standardi[sz]ed|adopted|retired|abandoned)|(?:was|were|is|are|been|have|has|now|since|recently|just|i|i've|team|they) (?:moved|switched|migrated|replaced|renamed|dropped|deprecated|retired|decided|chosen)|decision|decided|going with|went with|let's (?:use|go|keep|stick)|instead of|rather than|no longer|from now on|will use|moved (?:\S+ ){0,6}(?:from|to)|switched (?:\S+ ){0,6}(?:from|to)|migrated (?:\S+ ){0,6}(?:from|to)|(?:haben|wurde|wir) .*(?:entschieden|beschlossen|umgestellt|gewechselt|ersetzt)|statt|ab sofort|(?:nous avons|on a) (?:décidé|choisi|remplacé|migré)|au lieu|désormais|hemos (?:decidido|elegido|cambiado|migrado)|decidimos|en lugar de|cambiamos|migramos|decidimos)\b|(?:决定|改用|改为|换成|迁移|不再|采用)|(?:決めた|決定|変更|移行|切り替え|やめて)`)
	statement  = newPattern(`(?i)\b(?:remember|note that|keep in mind|for the record|fyi|important|always|never|must|because|since|due to|root cause|the (?:reason|cause|problem|issue|bug|fix|trick|culprit) (?:is|was)|turns out|we (?:use|run|have|keep|store|deploy|need|support|require)|our |is called|is named|lives? (?:in|at|on|under)|is (?:in|at|on|stored|set|located|served|owned|the)|are (?:in|at|on|stored|set|the)|runs? (?:on|at|every|in)|listens? on|expires?|defaults? to|depends? on|requires?|weil|damit|immer|nie|niemals|merke?|unser|unsere|wir (?:nutzen|verwenden|benutzen|haben)|liegt|läuft|heißt|parce que|toujours|jamais|notre|nos|nous (?:utilisons|avons)|souviens|rappelle|porque|siempre|nunca|nuestro|nuestra|usamos|recuerda|utilizamos|sempre|usiamo)\b|(?:记住|因为|总是|永远|必须|我们(?:使用|用|的)|是因为|位于|叫做|默认)|(?:覚えて|なぜなら|ため|必ず|私たち|うちの|使って(?:い|る)|です|である)|(?:기억|우리|때문|항상|사용)`)
	conclusion = newPattern(`(?i)\b(?:fixed|solved|resolved|works? now|passes|pass now|added|created|changed|updated|removed|implemented|renamed|moved|configured|installed|set (?:up|to)|enabled|disabled|so the|therefore|in short|summary|result|found|caused|happens|means|recommend|should|best|faster|slower|you (?:can|need|have to)|use (?:the|a)? ?\W?\w|run|the answer)\b`)
	personalTo = newPattern(`(?i)^(?:(?:remember|note|fyi|btw|by the way|and|also|please|that|this|in general|generally)[:,]? (?:that )?)*(?:i (?:(?:really|strongly|always|usually|generally|personally) )?(?:prefer|like|love|hate|dislike|favou?r|am|live|work|never|always)|i'm |i'd rather|my (?:name|favou?rite|preferred|timezone|time zone|birthday|editor|github|email|pronouns)|call me|please (?:always|never)|always (?:answer|reply|address|call)|ich (?:bevorzuge|mag|heiße|arbeite|wohne|bin)|je (?:préfère|m'appelle|travaille|suis|déteste)|prefiero|me llamo|me gusta|no me gusta|我(?:喜欢|更喜欢|不喜欢|讨厌|习惯|叫|住))`)
	// Something that has a name is worth finding again: code spans, paths, identifiers, versions, numbers with units, capitals inside a sentence.
	named  = newPattern("`[^`]+`|\\b\\w+(?:/\\w[\\w.-]*)+|\\b\\w+\\.(?:go|rs|py|ts|tsx|js|java|rb|c|h|cpp|md|ya?ml|toml|json|sql|sh|env|tf|proto)\\b|\\b[a-z]+[A-Z]\\w+|\\b\\w+_\\w+\\b|\\bv?\\d+\\.\\d+|\\b\\d+ ?(?:ms|s|sec|min|minutes?|hours?|days?|weeks?|%|[KMG]i?B|k|px|req)\\b|:\\d{2,5}\\b| [A-Z][A-Za-z]+")
	dangle = newPattern(`(?i)^(?:it|this|that|these|those|they|he|she|which|both|there|then|so|but|and|also|however|because|otherwise|instead|das|dies|es|sie|cela|ça|c'est|esto|eso|它|这|那|これ|それ)\b`)
)

const (
	mostNotes   = 12  // of a turn
	noteLength  = 400 // bytes; of a note
	askLength   = 240 // bytes; of the request in it
	mostContext = 600 // bytes
)

// distil gives what a person would keep of a turn: what was asked, what was concluded, and what either side stated, decided or prefers. before is
// what the person said before that, which a short reply leans on. The same text gives the same notes.
func distil(user, assistant, before string) []note {
	asked := slices.DeleteFunc(sentences(user), func(s sentence) bool { return smallTalk().MatchString(s.text) || tooShort(s.text) })
	answered := worth(sentences(assistant))
	context := ""
	for _, s := range asked {
		context += s.text + " "
	}
	context = clip(context+requestOf(sentences(before)), mostContext)

	var notes []note
	var said []termSet
	var rest []sentence // what was asked, beside what was stated
	for _, s := range asked {
		if kind := kindOf(s.text); kind == "" || isQuestion(s.text) {
			rest = append(rest, s)
		} else {
			n := note{kind: kind, origin: fromUser, content: clip(s.text, noteLength), context: context}
			if kind == "preference" && personalTo().MatchString(s.text) && !strings.ContainsAny(s.text, "/_`") {
				n.personal, n.context = true, "" // what else was said is the project's
			}
			notes = append(notes, n)
			said = append(said, telling(s.text))
		}
	}
	request := requestOf(rest)
	// An answer that only says again what the person said is none.
	answered = slices.DeleteFunc(answered, func(s scored) bool {
		return slices.ContainsFunc(said, func(set termSet) bool { return same(telling(s.text), set) })
	})
	if request != "" && len(answered) > 0 {
		best := slices.MaxFunc(answered, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
		notes = append(notes, note{kind: "answer", origin: fromAssistant, content: clip(endStop(request)+" "+best.text, noteLength+askLength), context: context})
	} else if request != "" && len(notes) == 0 && len(strings.Fields(request)) >= 3 {
		notes = append(notes, note{kind: "request", origin: fromUser, content: request, context: context})
	}
	for _, s := range answered {
		kind := kindOf(s.text)
		if kind == "" || kind == "preference" {
			kind = "fact"
		}
		about := context
		if s.heading != "" {
			about = s.heading + ". " + context
		}
		notes = append(notes, note{kind: kind, origin: fromAssistant, content: clip(s.text, noteLength), context: clip(about, mostContext)})
	}
	notes = distinct(notes)
	return notes[:min(len(notes), mostNotes)]
}

// same reports whether one text says little but what the other says, too.
func same(a, b termSet) bool {
	common := 0
	for t := range a {
		if b[t] {
			common++
		}
	}
	return common >= 2 && 4*common >= 3*max(len(a), 1) && 2*common >= len(b)
}

// requestOf is what a person asks for: the first sentences, up to a question.
func requestOf(asked []sentence) string {
	request := ""
	for _, s := range asked {
		if request != "" && (isQuestion(request) || len(request)+len(s.text) > askLength) {
			break
		}
		request = strings.TrimSpace(request + " " + s.text)
	}
	return clip(request, askLength)
}

// distinct keeps the first of notes that say the same.
func distinct(notes []note) []note {
	seen := map[string]bool{}
	return slices.DeleteFunc(notes, func(n note) bool {
		d := digest(n.content)
		if seen[d] || n.content == "" {
			return true
		}
		seen[d] = true
		return false
	})
}

// A scored sentence of an answer.
type scored struct {
	sentence
	score float64
}

// worth keeps the sentences of an answer that say something, in their order. One that leans on the sentence before it is joined to that.
func worth(list []sentence) []scored {
	var kept []scored
	for i, s := range list {
		if smallTalk().MatchString(s.text) || narration().MatchString(s.text) || isQuestion(s.text) || tooShort(s.text) {
			continue
		}
		score := 0.0
		if kindOf(s.text) != "" {
			score += 2
		}
		if conclusion().MatchString(s.text) {
			score++
		}
		score += min(float64(len(named().FindAllString(s.text, 3))), 2)
		if strings.ContainsAny(s.text, "0123456789") {
			score++
		}
		if i == 0 || i == len(list)-1 {
			score += 0.5
		}
		if i > 0 && !s.first && dangle().MatchString(s.text) && score >= 1 {
			before := list[i-1].text
			switch n := len(kept) - 1; {
			case n >= 0 && strings.HasSuffix(kept[n].text, before):
				if len(kept[n].text)+len(s.text) < noteLength {
					kept[n].text += " " + s.text
					kept[n].score = max(kept[n].score, score)
					continue
				}
			case len(before)+len(s.text) < noteLength && !narration().MatchString(before):
				s.text = before + " " + s.text
			}
		}
		if score >= 1 {
			kept = append(kept, scored{s, score})
		}
	}
	if len(kept) > mostNotes {
		byScore := slices.Clone(kept)
		slices.SortStableFunc(byScore, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
		least := byScore[mostNotes-1].score
		kept = slices.DeleteFunc(kept, func(s scored) bool { return s.score < least })
	}
	return kept
}

func kindOf(text string) string {
	switch {
	case preference().MatchString(text):
		return "preference"
	case decision().MatchString(text), tellsChange(text):
		return "decision"
	case statement().MatchString(text):
		return "fact"
	}
	return ""
}

func isQuestion(text string) bool {
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")
}

// tooShort reports whether a sentence is too short to say anything to somebody who was not there.
func tooShort(text string) bool {
	n := 0
	for _, w := range words(text) {
		if r, _ := utf8.DecodeRuneInString(string(w)); wide(r) {
			n += utf8.RuneCountInString(string(w)) / 2
		} else {
			n++
		}
	}
	return n < 2
}

func endStop(text string) string {
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?:") || strings.HasSuffix(text, "。") || strings.HasSuffix(text, "？") {
		return text
	}
	return text + "."
}

// clip shortens text to most bytes, between two words.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most - len(" …")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	if space := strings.LastIndexByte(text[:end], ' '); space > end/2 {
		end = space
	}
	return text[:end] + " …"
}
