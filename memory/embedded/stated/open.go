package stated

import (
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

var (
	remains = language.NewPhrases(`next steps|next step|remaining|remains|todo|to do|not yet|still fails|
		still failing|still needs|still need|still open|left to do|what's left|follow-up|follow up|
		nächste schritte|nächster schritt|offen|noch zu|steht noch aus|prochaines étapes|reste à|restent|
		il reste|próximos pasos|falta|faltan|queda|quedan|prossimi passi|resta|restano|manca|próximos passos|
		volgende stappen|resteert|nog te doen|следующие шаги|осталось|остается`,
		`下一步 剩下 待办 尚未 次のステップ 残り 未対応 다음_단계 남은 아직_안`)
	goesOn = language.NewPhrases(`continue|resume|carry on|go on with|keep going|keep working|pick up|
		pick this up|pick it up|back to|what's left|what is left|what's next|what is next|what remains|
		what's missing|where were we|where did we|left off|status of|finish|let's finish|weiter|mach weiter|
		weitermachen|fortsetzen|was fehlt noch|was ist noch offen|wo waren wir|continuer|continuons|continuez|
		reprends|reprenons|reprendre|que reste-t-il|où en|continúa|continuemos|seguimos|sigue|retoma|
		qué falta|qué queda|dónde quedamos|continua|continuiamo|riprendi|riprendiamo|cosa manca|cosa resta|
		continuar|continue com|retomar|o que falta|ga verder|ga door|wat rest er|wat is er nog|продолжай|
		продолжим|продолжи|что осталось|на чем остановились`,
		`继续 接着 还剩 続け 続き 残りは 계속_해 계속하 이어서 남았`)
	// fails: what was answered before did not help.
	fails = language.NewPhrases(`same error|the same error|still|no|nope|doesn't work|does not work|didn't help|
		did not help|that didn't|that did not|not fixed|not working|it's not|immer noch|gleicher fehler|
		derselbe fehler|geht nicht|geht immer noch|funktioniert nicht|nein|toujours|même erreur|la même erreur|
		ne marche pas|ça ne marche|non|sigue|sigue sin|mismo error|el mismo error|no funciona|ancora|stesso errore|
		lo stesso errore|non funziona|ainda|mesmo erro|o mesmo erro|não funciona|não|nog steeds|zelfde fout|
		dezelfde fout|werkt niet|nee|все еще|всё ещё|та же ошибка|не работает|нет`,
		`还是 同样的错误 不行 没用 まだ 同じエラー 여전히 같은_오류 같은_에러 안_돼 안돼 아직도`)
	// ofMemory ask about what is remembered.
	ofMemory = language.NewPhrases(`what do you know about me|what do you remember about me|what do you know about us|
		what do you know about this project|what do you remember about this project|what do you know so far|
		what do you remember|who am i|what were we working on|what have we been working on|what did we work on|
		what are we working on|what was i working on|what did we do last|what did we do last time|
		where did we leave off|where were we|was weißt du über mich|was weißt du über dieses projekt|
		was weißt du schon|wer bin ich|woran haben wir gearbeitet|woran arbeiten wir|wo waren wir|
		wo sind wir stehen geblieben|was haben wir zuletzt gemacht|que sais-tu de moi|que sais-tu sur moi|
		que sais-tu de ce projet|qui suis-je|sur quoi travaillions-nous|sur quoi on travaillait|où en étions-nous|
		qué sabes de mí|qué sabes sobre mí|qué sabes de este proyecto|quién soy|en qué estábamos trabajando|
		en qué trabajábamos|dónde nos quedamos|cosa sai di me|cosa sai di questo progetto|chi sono|
		a cosa stavamo lavorando|dove eravamo rimasti|o que você sabe sobre mim|o que sabes sobre mim|
		o que sabe sobre este projeto|quem sou eu|em que estávamos trabalhando|onde paramos|wat weet je over mij|
		wat weet je van mij|wat weet je over dit project|wie ben ik|waar waren we mee bezig|waar waren we gebleven|
		что ты знаешь обо мне|что ты обо мне знаешь|что ты знаешь об этом проекте|кто я|над чем мы работали|
		на чем мы остановились`,
		`你知道我什么 你对我了解 你了解我 关于我你知道 我们之前在做什么 上次做到哪
		私について何を 私のことを何 何をしていましたか 나에_대해 저에_대해 나를_알 저를_알 이_프로젝트에_대해_무엇 무슨_작업을_하고 뭘_하고_있었`)
	// undoes: what was settled is not any more.
	undoes = language.NewPhrases(`actually|instead|go back|going back|switch back|back to|revert|undo|
		no longer|not anymore|any more|drop|scrap|never mind|nevermind|cancel|forget about|on second thought|
		changed my mind|after all|rather|don't|not|doch|lieber|statt|zurück|nicht mehr|rückgängig|finalement|
		plutôt|au lieu|ne plus|annule|revenons|mejor|en lugar|ya no|vuelve|volvamos|anzi|invece|non più|
		torniamo|na verdade|em vez|não mais|voltemos|toch|liever|niet meer|terug|вместо|больше не|вернемся|
		лучше|все же`,
		`改回 不再 还是 而不是 取消 やめ 戻 ではなく 대신 취소 다시`)
)

// GoesOn reports whether a prompt goes on with earlier work: "continue", "what is left?".
func GoesOn(prompt string) bool { return len(prompt) <= longest && goesOn.In(language.PlainOf(prompt)) }

// AsksMemory reports whether a prompt asks what is remembered: "what do you know about me?".
func AsksMemory(prompt string) bool {
	return len(prompt) <= shortPrompt && ofMemory.In(language.PlainOf(prompt))
}

// Failed returns the sentence with which a prompt begins, if that says that the answer before it did not help.
func Failed(prompt string) string {
	all := language.Sentences(prompt)
	if len(all) == 0 || !fails.Begins(language.PlainOf(all[0].Text)) || language.EndsInQuestion(all[0].Text) {
		return ""
	}
	return chars.Cut(all[0].Text, longestSay)
}

// StillFails returns the sentence with which a prompt begins, if that says that what was made does not work: Failed is
// also a mere no.
func StillFails(prompt string) string {
	if said := Failed(prompt); said != "" && broken.In(language.PlainOf(said)) {
		return said
	}
	return ""
}

// broken is that something does not work.
var broken = language.NewPhrases(`error|errors|fails|failing|failed|broken|doesn't work|does not work|didn't work|
	not work|not working|isn't working|not fixed|isn't right|isnt right|not right|wrong|seeing|hangs|crashes|
	fehler|geht nicht|funktioniert nicht|kaputt|erreur|ne marche pas|ne fonctionne pas|no funciona|falla|errore|
	non funziona|erro|não funciona|fout|werkt niet|ошибка|не работает`,
	`错误 不行 没用 エラー 動かない 에러 안 돼`)

// Gist returns the first sentences of a result, without headings and code.
func Gist(result string) string {
	var b strings.Builder
	for _, s := range language.Sentences(result) {
		if b.Len() > 0 && b.Len()+len(s.Text) > longest || s.Text[0] == '`' {
			break
		}
		b.WriteString(s.Text + " ")
	}
	return strings.TrimSpace(b.String())
}

// Open returns what a result says is left to do: the sentence that says so, or what its list begins with; "" if
// nothing.
func Open(result string) string {
	var steps []string
	listed := false // what follows is a list of it
	for _, s := range language.Sentences(result) {
		if len(steps) == maxSteps {
			break
		}
		says := remains.In(language.PlainOf(s.Text))
		switch listed = s.Item && (listed || remains.In(language.PlainOf(s.Heading))); {
		case says && strings.HasSuffix(s.Text, ":"):
			listed = true
		case language.EndsInQuestion(s.Text), nothingLeft().MatchString(s.Text):
		case says, listed:
			steps = append(steps, s.Text)
		}
	}
	return chars.Cut(strings.Join(steps, "; "), longest)
}

var nothingLeft = pattern.New(`(?i)^(?:nothing|none|no )|\b(?:nothing|no (?:open|remaining|further|more|known))\b`)

const (
	maxSteps    = 2   // that are left to do
	shortPrompt = 200 // bytes; what is longer pastes names
)

// TakesBack reports whether a text may take a decision back.
func TakesBack(text string) bool { return undoes.In(language.PlainOf(text)) }

// Reverted returns those of some decisions, in their order, that a later one takes back, with that one. A later one
// that says what it replaces takes back nothing else.
func Reverted(decided []string) map[string]string {
	gone := map[string]string{}
	terms := make([]language.Set, len(decided))
	for i, text := range decided {
		terms[i] = language.SetOf(language.Terms(text))
	}
	for i, later := range decided {
		if !TakesBack(later) {
			continue
		}
		replaced := passage.Replaced(later)
		for k := range i {
			common := 0
			for t := range terms[k] {
				if !language.Common(t) && terms[i][t] {
					common++
				}
			}
			other := len(replaced) > 0 && !slices.ContainsFunc(replaced, func(t string) bool { return terms[k][t] })
			if common > 0 && 2*common >= len(terms[k]) && !other {
				gone[decided[k]] = later
			}
		}
	}
	return gone
}
