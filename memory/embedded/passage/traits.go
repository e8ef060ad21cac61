package passage

import "github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"

// Traits say which questions a passage may answer. They are stored in the database, so the bits do not change.
type Traits uint16

// Bits of Traits.
const (
	Asks    Traits = 1 << 0 // ends in a question
	Changes Traits = 1 << 4 // says that something is not as it was
)

// Bits of what a passage's place in its turn says, and of the user's words.
const (
	Narrates Traits = 1 << (iota + 10) // said before a tool was called
	_
	Works   // of a turn in which work was done: tools were called
	Directs // the user says how things are to be done
)

// Has reports whether t has one trait, or one of several.
func (t Traits) Has(one Traits) bool { return t&one != 0 }

// TraitsOf returns the traits of a text, of the user's words or of what an agent said.
func TraitsOf(text string, byUser bool) (t Traits) {
	plain := language.PlainOf(text)
	for trait, on := range map[Traits]bool{Asks: language.EndsInQuestion(text),
		Changes: changes.In(plain), Directs: byUser && directives.In(plain)} {
		if on {
			t |= trait
		}
	}
	return t
}

// directives are words by which a user says how things are to be done.
var directives = language.NewPhrases(`never|always|don't|do not|must|should|shouldn't|instead|rather|let's|lets|use|
	want|prefer|only|no need|make sure|nie|niemals|immer|nicht|muss|soll|sollte|statt|lieber|nimm|nur|jamais|`+
	`toujours|doit|
	faut|plutôt|utilise|utilisons|seulement|nunca|siempre|debe|mejor|usa|usar|solo|mai|sempre|deve|invece|nooit|altijd|
	moet|liever|gebruik|alleen|никогда|всегда|нужно|лучше|только`,
	`不要 必须 应该 总是 用 只 禁止 しないで 必ず べき 使って だけ 하지_마 하지마 반드시 항상 대신`)
