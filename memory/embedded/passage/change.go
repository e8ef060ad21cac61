package passage

import "github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"

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
var replacedBy = language.NewPhrases(`instead of|rather than|no longer|no longer use|away from|moved from|switched from|
	migrated from|from|replace|replaced|dropped|retired|got rid of|stopped using|statt|anstelle von|von|ersetzen|
	au lieu de|remplace|remplacé|plus|
	en lugar de|en vez de|reemplazamos|ya no usamos|invece di|in plaats van|вместо`, `不再使用 不再 放弃 대신`)

// TellsChange reports whether a text says that something changed.
func TellsChange(text string) bool { return changes.In(language.PlainOf(text)) }

// Replaced returns the terms of what a text says is no longer used.
func Replaced(text string) []string { return replacedBy.After(text, 3) }
