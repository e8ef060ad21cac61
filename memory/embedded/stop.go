package embedded

import (
	"strings"
	"sync"
)

// stopped are words that say nothing in any collection, as terms.
var stopped = sync.OnceValue(func() termSet { return termsOf(stopWords) })

// common are words that say little: other words may stand for them.
var common = sync.OnceValue(func() termSet { return termsOf(commonWords) })

// askingWords are CJK words that only ask, which no spaces set apart.
var askingWords = sync.OnceValue(func() termSet { return setOf(strings.Fields(cjkWords)) })

const longestAsking = 6 // characters

func termsOf(list string) termSet {
	set := setOf(terms(list))
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

const stopWords = `a about above after again all also am an and another any anybody anyone anything are aren't as ask asked at back be because been before being below
between both but by can can't could couldn't did didn't do does doesn't doing don't done down during each either else ever every everything few for from further
get gets getting give given go goes going gone got had hadn't has hasn't have haven't having he he'd he'll her here here's hers him his how how's i i'd i'll i'm i've if in
into is isn't it it's its itself just keep know known let let's like ll made make makes making many may maybe me might mine more most much must my need needed needs no nor
not now of off ok on once one only onto or other our ours out over own please put rather re really remember said same say says see seen shall she should shouldn't show since
so some somebody someone something still such sure take taken tell than thank thanks that that's the their theirs them then there there's these they they're thing things think
this those though through to told too try trying under until up upon us use used uses using ve very want wants was wasn't way we we'd we'll we're we've well went were weren't what
what's when when's where where's whether which while who who's whom whose why why's will with within without won't would wouldn't yes yet you you'd you'll you're you've your
yours hi hello hey
war waren wäre gab hatten habe wurden worden sei bis beim am vom ins über unter nach vor seit durch gegen ohne um so da denn doch mal noch etwas alle jede jeder jedes diese dieser dieses
der die das den dem des ein eine einen einem einer und oder aber ist sind war waren wird werden wurde hat haben hatte ich du er sie es wir ihr uns mir mich dir dich sich
nicht kein keine auch nur noch schon mit von zu zum zur bei für auf aus in im an am um als wie was wer wo wann warum welche welcher welches wenn dass man kann können soll
sollte muss müssen bitte unser unsere mein meine dein
le la les un une des du de et ou mais est sont était être a ont avoir je tu il elle nous vous ils elles on ne pas plus que qui quoi quel quelle quels quelles où quand comment
pourquoi avec pour par sur dans en au aux ce cette ces mon ma mes notre nos votre vos
el los las una unos unas y o pero es son era ser estar está están fue yo tú él ella nosotros no se que qué quién cuál cuáles cómo cuándo dónde por para con en del al lo su sus mi mis
nuestro nuestra
o os um uma e é são não que com em no na do da per il gli di del che non con`

const commonWords = `able according actually add added adding allow allowed already always answer app apply around available away bad based become begin best better big bigger break bring broken bug
build built call called came cannot case cause caused certain change changed changes check clean clear code come comes common company complete contact correct create created current
currently day days decide decided different difference do doing easy end enough error exactly example exist explain fail failed fails fast faster file files fill find fine finish first fix fixed
follow found full function future general goal good great handle happen happened happens hard help high hold holds hour hours idea implement important improve include instead issue
job kind large last late later latest left less library line list little live long longer look looking lot low main manage many matter max mean means message minute minutes moment month
name named never new next nice note number offer old open option order part people perhaps person place plan please point possible prefer problem project provide
question quick quickly reason recent recently remove removed report request required requires result return returns right rule run running runs same save second seconds send sent set
several short side simple single slow small software solution solve special specific start started state stay step stop store stored stuff successful support supposed
system talk task team test tests thing time times today tomorrow tool top turn type types understand update updated user users usual usually valid value version wait way week weeks went whole without word
work working works worth write writing written wrong year years yesterday
anzahl arbeit aufgabe beispiel brauche brauchen braucht darf dürfen eigentlich einfach erklären erkläre finden frage fehler gehen gibt grund gut heißen heißt helfen immer jetzt kommen kommt lange länger laufen läuft
machen macht möglich nächste nächster neu neue nutzen nutzt problem schreibe schreiben seit stehen steht teil verwenden verwendet viel viele wichtig wieder zeigen zeit
aujourd'hui besoin bien cas chaque comme combien dernier dernière donner existe faire fait faut garde jour jours maintenant marche mettre nouveau nouvelle peut prendre problème savoir semaine temps toujours trouver utiliser utilise utilisons voir
ahora año años cada cosa cuál cuánto cuántos dar día días dónde ejemplo error hacer hace necesita necesito nueva nuevo poder problema puede semana siempre tiempo tiene todo usamos usar ver`

const cjkWords = `我们的 我们 你们 他们 现在 什么时候 什么 怎么 怎样 如何 哪个 哪些 哪里 为什么 为何 还是 多久 多少 几个 几次 需要 可以 应该 请问 请 吗 呢 吧 的 了 是 在 用 有 和 与 把 被 中 或 换
ください 教えて どこ どの どれ なぜ いつ 何 誰 です ます でした ました ますか ですか して する した から まで には では とは について という こと もの
무엇 어디 언제 누가 왜 어떻게 우리 입니까 인가요 뭐야 뭐예요 뭔가요 뭐지 무슨 어떤 얼마 하나요 있나요 합니까 쓰나요 사용하나요 알려줘 알려 주세요
은 는 이 가 을 를 의 에서 에`
