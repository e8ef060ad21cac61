package language

import (
	"slices"
	"strings"
	"sync"
)

// What questions ask for, and the words by which a text may answer. All words are folded.

// setOf makes the set of the words in lists, when it is first used.
func setOf(lists ...string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		m := map[string]bool{}
		for _, list := range lists {
			for w := range strings.FieldsSeq(list) {
				m[Fold(w)] = true
			}
		}
		return m
	})
}

var (
	firstPerson = setOf(`i i'm i've i'd i'll me my mine myself we we're we've we'll us our ours`,
		`ich mir mich mein meine meinen wir uns unser unsere`, `je j'ai mon ma mes moi nous notre nos`,
		`yo mi mis me nosotros nuestro nuestra`, `io mio mia noi nostro nostra`, `eu meu minha nos nosso nossa`,
		`ik mijn wij we ons onze`, `я мне мой моя мы нас наш`)
	numberWords = setOf(`two three four five six seven eight nine ten eleven twelve twenty thirty hundred thousand
		million dozen once twice double half several`,
		`zwei drei vier funf sechs sieben acht neun zehn zwolf zwanzig hundert tausend`,
		`deux trois quatre cinq sept huit neuf dix vingt cent mille`,
		`dos tres cuatro cinco seis siete ocho nueve diez veinte cien mil`,
		`due tre quattro cinque sei sette otto nove dieci`, `dois duas quatro cinco sete oito nove dez`,
		`twee drie vier vijf zes zeven acht negen tien`)
	whenWords = setOf(`when wann quand cuando quando wanneer когда since deadline date`)
	whoWords  = setOf(`who whom whose what which where name named called title`,
		`wer wem wen was welche welcher welches wo heißt name namen`, `qui quoi quel quelle où nom appelle`,
		`quién qué cuál dónde nombre llama`, `chi cosa quale dove nome chiama`, `quem qual onde nome chama`,
		`wie wat welke waar naam heet`, `кто что какой какая где`)
)

// asksWhen reports whether a question, with its words folded, asks for a time.
func asksWhen(text string, folded []string) bool {
	return slices.ContainsFunc(folded, func(w string) bool { return whenWords()[w] }) ||
		follows(folded, "how long", "what time", "what day", "what month", "what year", "which year", "which month",
			"which day", "wie lange", "seit") ||
		containsAny(text, "什么时候", "何时", "哪天", "几号", "いつ", "언제", "เมื่อไ")
}

// asksMany reports whether a question asks for a number.
func asksMany(text string, folded []string) bool {
	return follows(folded, "how many", "how much", "how often", "how long", "how old", "how large", "how big",
		"wie viel", "wie viele", "wie oft", "wie lange", "wieviel", "wieviele", "combien", "cuanto", "cuantos", "cuanta",
		"cuantas", "quanto",
		"quanti", "quante", "quantos", "quantas", "hoeveel", "сколько") ||
		containsAny(text, "多少", "几个", "几次", "多久", "いくつ", "何回", "何個", "몇", "얼마", "กี่")
}

// asksWho reports whether a question asks for a name or a thing.
func asksWho(text string, folded []string) bool {
	return slices.ContainsFunc(folded, func(w string) bool { return whoWords()[w] }) ||
		containsAny(text, "谁", "什么", "哪", "叫", "誰", "何", "どこ", "どれ", "누가", "무엇", "어디", "ใคร", "อะไร")
}

func containsAny(text string, list ...string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(text, s) })
}

// follows reports whether the words of one of the phrases stand in folded, in their order and next to each other.
func follows(folded []string, phrases ...string) bool {
	for _, p := range phrases {
		want := strings.Fields(p)
		for i := 0; i+len(want) <= len(folded); i++ {
			if slices.Equal(folded[i:i+len(want)], want) {
				return true
			}
		}
	}
	return false
}
