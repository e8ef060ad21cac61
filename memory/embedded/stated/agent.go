package stated

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// What an agent says of its own choices and failures. Most of what it says is narration ("Now let's …:"); what counts
// is what whoever takes over has to know.

var (
	// chose: the agent has chosen; recommends: it would, if the user agrees.
	chose = language.NewPhrases(`i chose|i've chosen|i picked|i opted|i went with|i decided|i've decided|i kept|
		i've kept|i used|i've used|i stuck with|we chose|we picked|we opted|we went with|we decided|we kept|
		ich habe mich|gewählt|j'ai choisi|j'ai gardé|j'ai utilisé|elegí|he elegido|ho scelto|ho usato|
		escolhi|ik koos|ik heb gekozen|ik heb gebruikt|я выбрал|я использовал|я оставил`,
		`我选择 我用了 を選び を使い 선택했`)
	recommends = language.NewPhrases(`i recommend|i'd recommend|i would recommend|my recommendation|
		i suggest|i'd suggest|i propose|i would go with|i'd go with|i'd use|i would use|i'd keep|
		ich empfehle|ich schlage vor|mein vorschlag|je recommande|je propose|recomiendo|propongo|sugiero|consiglio|
		recomendo|sugiro|ik raad aan|ik stel voor|рекомендую|предлагаю`,
		`我建议 推荐 おすすめ 提案 추천 제안`)
	overWhat = language.NewPhrases(`instead of|rather than|over|in favor of|in favour of|as opposed to|statt|anstatt|
		anstelle|au lieu de|plutôt que|en lugar de|en vez de|invece di|em vez de|in plaats van|вместо|а не`,
		`而不是 ではなく 대신`)
	agrees = language.NewPhrases(`yes|yep|yeah|yup|ok|okay|sure|sounds good|sounds great|do it|go ahead|go for it|
		let's do|lets do|perfect|agreed|agree|approved|please do|proceed|great|lgtm|good idea|
		makes sense|ja|gut|mach das|passt|einverstanden|oui|d'accord|vas-y|parfait|sí|vale|de acuerdo|hazlo|
		perfecto|sì|va bene|perfetto|sim|concordo|faça|perfeito|akkoord|prima|doe maar|да|хорошо|согласен|давай`,
		`好 可以 同意 はい お願い 네 좋아`)
)

// Settled returns the decisions in what an agent said, and what it tried and gave up. A decision says what was chosen
// over what; what the agent recommends is one if the next prompt agrees.
func Settled(answer, reply string) (agreed, failed []string) {
	first := language.Sentences(reply)
	ok := len(first) > 0 && !language.EndsInQuestion(first[0].Text) && agrees.Begins(language.PlainOf(first[0].Text))
	for _, s := range language.Sentences(answer) {
		if !tells(s.Text) {
			continue
		}
		plain := language.PlainOf(s.Text)
		recommended := recommends.In(plain) && !roundabout.In(plain) || plain.Word(0) == "recommendation"
		switch {
		case len(agreed) < mostAgreed && (chose.In(plain) && overWhat.In(plain) || ok && recommended):
			agreed = append(agreed, s.Text)
		case gaveUp().MatchString(s.Text) && !notDone().MatchString(s.Text):
			failed = append(failed, s.Text)
		}
	}
	return agreed, failed
}

// roundabout is about a recommendation.
var roundabout = language.NewPhrases(`what i recommend|what i'd recommend|what i would recommend|how i recommend|
	how i'd recommend|assignments i suggest|as i recommend|as i suggest`, ``)

const mostAgreed = 3 // of one answer

// gaveUp is that something was tried and did not do, or was taken back.
var gaveUp = pattern.New(`(?i)\b(?:I|we)(?:'ve|’ve| have| had to)? (?:revert(?:ed)?|roll(?:ed)? back|abandon(?:ed)?|` +
	`back(?:ed)? out|gave up|given up|undid)\b|` +
	`\b(?:approach|attempt|idea|fix|workaround|strategy|method|trick|option|change|setting|command)s?\b[^.:;?]{0,80}` +
	`\b(?:did(?:n't|n’t| not) work|does(?:n't|n’t| not) work|won(?:'t|’t) work|will not work|failed because|` +
	`was a dead end)|` +
	`\b(?:hat nicht funktioniert|habe? ich (?:verworfen|zurückgenommen)|n'a pas (?:fonctionné|marché)|j'ai annulé|` +
	`no funcionó|lo revertí|he revertido|non ha funzionato|ho annullato|não funcionou|werkte niet|` +
	`heb ik teruggedraaid|не сработал[ои]?)\b`)

// notDone is about what may fail, or failed for others.
var notDone = pattern.New(`(?i)^(?:if|when|whenever|unless|wenn|falls|si|se|als|если)\b|` +
	`\b(?:if|unless) (?:this|that|it|the)\b|[\[(]x?[\])] `)

// tells reports whether a sentence may tell something: it is no question, no announcement, no narration.
func tells(text string) bool {
	return len(text) <= longest && !strings.ContainsAny(text[:1], "`\"/") && !strings.HasSuffix(text, ":") &&
		!language.EndsInQuestion(text) && !announces().MatchString(text)
}

// announces begins a sentence in which an agent says what it is about to do.
var announces = pattern.New(`(?i)^(?:(?:now|next|first|then|ok(?:ay)?|great|perfect|good|excellent|alright|so)[,!.]? )*` +
	`(?:let me|let's|let us|i'll|i will|i'm going to|i am going to|i need to|i should|we need to|` +
	`let’s|i’ll|i’m going to|here(?:'s|’s| is| are))\b|^(?:perfect|great|excellent|done|good|all|✅)\b[^.]*!|^[\P{L}]*$`)

// FirstTold returns the first sentence of a result that tells what was done, "" for none.
func FirstTold(result string) string {
	for _, s := range language.Sentences(result) {
		if tells(s.Text) && len(language.Terms(s.Text)) >= fewestTerms {
			return s.Text
		}
	}
	return ""
}

// Question returns the question with which an answer ends, "" for none and for an offer to go on.
func Question(answer string) string {
	question := lastQuestion(answer)
	if plain := language.PlainOf(question); question == "" || offersMore.Begins(plain) {
		return ""
	}
	return question
}

// offersMore begins a question that needs no answer.
var offersMore = language.NewPhrases(`is there anything|anything else|would you like|any other|
	any additional|do you want me|want me|shall i go on|should i continue|should i proceed|ready|what would you like|
	what else|how can i help|
	möchtest du|soll ich weiter|souhaitez-vous|veux-tu|quieres que|te gustaría|vuoi che|quer que|wil je dat`,
	`还需要 他に何か`)
