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

// changes say that something is not as it was, and can mean nothing else.
var changes = language.NewPhrases(`moved|moving to|switched|switch to|switching to|migrated|replaced|replace|
		instead of|rather than|no longer|not anymore|any more|from now on|changed to|changed from|change it to|raised|
		lowered|increased|reduced|
		bumped|doubled|halved|renamed|dropped|retired|deprecated|upgraded|downgraded|went from|is gone|are gone|
		got rid of|stopped using|not use|nicht mehr|umgestellt|gewechselt|ersetzt|statt|anstelle|ab sofort|erhöht|
		gesenkt|umgezogen|
		désormais|remplacé|remplace|ne plus|au lieu de|passons à|passés à|augmenté|réduit|migré|ya no|en lugar de|
		en vez de|cambiamos|migramos|reemplazamos|subimos|bajamos|pasamos a|non più|invece di|sostituito|passati a|
		já não|não usamos mais|
		em vez de|mudamos|trocamos|niet meer|in plaats van|vervangen|больше не|вместо|перешли|заменили`,
	`改用 改为 改成 换成 迁移到 不再 升级到 変更し 移行 切り替え やめて やめた ではなく 바꿨 변경 대신 더_이상 더는`)

// replacedBy are phrases that what is no longer used stands behind.
var replacedBy = language.NewPhrases(`instead of|rather than|no longer use|no longer|away from|moved from|switched from|
	migrated from|from|replace|replaced|dropped|retired|got rid of|stopped using|statt|anstelle von|von|ersetzen|
	au lieu de|remplace|remplacé|plus|
	en lugar de|en vez de|reemplazamos|ya no usamos|invece di|in plaats van|вместо`, `不再使用 不再 放弃 대신`)

// TellsChange reports whether a text says that something changed.
func TellsChange(text string) bool { return changes.In(language.PlainOf(text)) }

// Replaced returns the terms of what a text says is no longer used.
func Replaced(text string) []string { return replacedBy.After(text, 3) }
