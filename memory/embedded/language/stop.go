package language

import (
	"math/bits"
	"strings"
	"sync"
)

// stopWords say nothing in any text. They also tell which language a text is in.
var stopWords = map[set]string{
	english_: `a about above after again all also am an and another any anybody anyone anything are aren't as ask asked
		at back be because been before being below
between both but by can can't could couldn't did didn't do does doesn't doing don't done down during each either else
ever every everything few for from further
get gets getting give given go goes going gone got had hadn't has hasn't have haven't having he he'd he'll her here
here's hers him his how how's i i'd i'll i'm i've if in
into is isn't it it's its itself just keep know known let let's like ll made make makes making many may maybe me might
mine more most much must my need needed needs no nor
not now of off ok on once one only onto or other our ours out over own please put rather re really remember said same
say says see seen shall she should shouldn't show since
so some somebody someone something still such sure take taken tell than thank thanks that that's the their theirs them
then there there's these they they're thing things think
this those though through to told too try trying under until up upon us use used uses using ve very want wants was
wasn't way we we'd we'll we're we've well went were weren't what
what's when when's where where's whether which while who who's whom whose why why's will with within without won't
would wouldn't yes yet you you'd you'll you're you've your
yours hi hello hey`,
	german_: `war waren wäre gab hatten habe wurden worden sei bis beim am vom ins über unter nach vor seit durch gegen
		ohne um so da denn doch mal noch etwas alle jede jeder jedes
diese dieser dieses der die das den dem des ein eine einen einem einer und oder aber ist sind wird werden wurde hat
haben hatte ich du er sie es wir ihr uns mir mich dir dich sich
nicht kein keine auch nur schon mit von zu zum zur bei für auf aus in im an als wie was wer wo wann warum welche
welcher welches wenn dass man kann können soll
sollte muss müssen bitte unser unsere unserem unseren mein meine dein hier dort jetzt womit wofür wodurch wozu woran
wieso weshalb woher wohin wieviel wieviele viel viele uns bei dabei damit dafür immer`,
	french_: `le la les un une des du de et ou mais est sont était être a ont avoir ai je tu il elle nous vous ils
		elles on ne pas plus que qui quoi quel quelle quels quelles où quand
comment pourquoi avec pour par sur dans en au aux ce cette ces cet mon ma mes notre nos votre vos son sa ses leur leurs
se si y été fait qu c'est encore combien dont donc comme très aussi alors faut-il est-ce avons avez ont sommes êtes
étaient`,
	spanish_: `el la los las un una unos unas y o pero es son era ser estar está están fue yo tú él ella nosotros no se
		que qué quién cuál cuáles cómo cuándo dónde por para con en del de
al lo su sus mi mis nuestro nuestra le les ha han hay si este esta ese esa como más donde cuando cuánto cuánta cuántos
cuántas quiénes también ya muy esto eso sin sobre`,
	italian_: `il lo la i gli le un uno una di del della dei delle da dal dalla in nel nella con su sul sulla per tra
		fra e o ma è sono era essere ho ha hanno abbiamo io tu lui lei noi voi
loro che chi cosa quale quali quando dove come perché non si mi ti ci vi questo questa quello quella nostro nostra mio
mia anche più al alla ai quanto quanta quanti quante ancora`,
	portuguese_: `o a os as um uma uns umas de do da dos das em no na nos nas por para com e ou mas é são era foi ser
		estar está eu tu ele ela nós eles elas que quem qual quais quando onde
como porque não se meu minha nosso nossa seu sua isto isso este esta esse essa mais já ao à temos tem quanto quanta
quantos quantas ainda`,
	dutch_: `de het een en of maar is zijn was waren wordt werd heeft hebben had ik jij je hij zij ze wij we jullie ons
		onze mijn niet geen ook nog al met van voor naar op in uit bij aan
om te als dan dat die dit deze wat wie waar wanneer waarom hoe welke kan moet zou er door over onder hier daar`,
	russian_: `и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот
		от меня еще нет о из ему когда даже ну ли если или быть был
до вас уже для мы их чем была без это этот эта эти кто где какой какая какие почему который мой наш наша наши`,
}

// stopWordLanguages returns for each stop word, folded, the languages that it is one in.
var stopWordLanguages = sync.OnceValue(func() map[string]set {
	m := map[string]set{}
	for lang, list := range stopWords {
		for w := range strings.FieldsSeq(Fold(list)) {
			m[w] |= lang
		}
	}
	return m
})

// isStopWord reports whether a folded word says nothing in one of the languages.
func isStopWord(folded string, in set) bool { return stopWordLanguages()[folded]&in != 0 }

// languageOf returns the language that most stop words of a text are of; English where there are none, and then sure is
// false.
func languageOf(words []Word) (lang set, sure bool) {
	var counts [len(stemmers)]int
	for _, w := range words {
		for in := stopWordLanguages()[w.Folded]; in != 0; in &= in - 1 {
			counts[bits.TrailingZeros16(uint16(in))]++
		}
	}
	best := 0
	for i, n := range counts {
		if n > counts[best] {
			best = i
		}
	}
	return 1 << best, counts[best] > 0
}

// common are words that say little in work with an agent: a prompt that has no others does not name what it is about.
var common = WordSet(`
	ahead able according actually add added adding allow allowed already always answer app apply around
	available away bad based become begin best better big bigger break bring broken bug
build built bump call called came cannot case cause caused certain change changed changes check clean clear code come
comes commit common company complete contact continue correct create created
current currently day days decide decided dependency dependencies diff different difference do doing double easy
end enough error exactly example exist explain fail failed fails fast faster file files fill find
fine finish first fix fixed follow format found full function future general goal good great handle happen happened
happens hard help high hold holds hour hours idea implement important improve include
instead install issue job kind large last late later latest left less library line lint list little live long longer
look looking lot low main manage many matter max mean means merge message minute minutes moment
month name named never new next nice note number offer old open option order package packages part people perhaps
person place plan please point possible prefer problem project provide pull push
question quick quickly readme reason recent recently refactor remove removed rename report repo repository request
required requires result return returns review right rule run running runs save second seconds
send sent set several short side simple single slow small software solution solve special specific start started state
stay step stop store stored stuff successful summarize summary support supposed
system talk task team test tests time times today tomorrow tool top turn type types understand update updated upgrade
user users usual usually valid value version wait week weeks whole word
work working works worth write writing written wrong year years yesterday
anzahl arbeit aufgabe beispiel brauche brauchen braucht darf dürfen eigentlich einfach erklären erkläre finden frage
fehler gehen gibt grund gut heißen heißt helfen immer kommen kommt lange länger laufen läuft
machen macht mach möglich nächste nächster neu neue nutzen nutzt schreibe schreiben stehen steht teil verwenden
verwendet viel viele weiter wichtig wieder zeigen zeit
aujourd'hui besoin bien cas chaque combien continue dernier dernière donner existe faire faut garde jour jours
maintenant marche mettre nouveau nouvelle peut prendre savoir semaine temps toujours trouver utiliser utilise utilisons
voir
ahora año años cada cosa cuánto cuántos dar día días ejemplo hacer hace necesita necesito nueva nuevo poder problema
puede semana siempre sigue tiempo tiene todo usamos usar ver
worked discuss discussed talk talked ship shipped changed happened
gemacht besprochen passiert beschlossen erledigt gearbeitet geändert parlé passé travaillé décidé fait avons hicimos
pasó decidimos hablamos trabajamos hicieron pasado hecho fatto deciso successo parlato fizemos decidimos aconteceu
gedaan besproken besloten gebeurd делали решили обсуждали было
continua fare ora oggi sempre usare usiamo continuar agora hoje sempre usar`)

// Common reports whether a folded word, or a stem, says little in work with an agent.
func Common(word string) bool { return common()[word] || commonStems()[word] }

var commonStems = sync.OnceValue(func() Set {
	m := Set{}
	for w := range common() {
		m[term(w, english_)] = true
	}
	return m
})
