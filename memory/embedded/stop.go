package embedded

import "strings"

// stopped are words that say nothing in any collection, as terms.
var stopped = func() termSet {
	set := termSet{}
	for _, w := range words(stopWords) {
		for _, t := range w.terms() {
			set[t] = true
		}
	}
	for w := range strings.FieldsSeq(stopWords) {
		set[w] = true
	}
	return set
}()

const stopWords = `a about above after again all also am an and another any anybody anyone anything are aren't as ask asked at back be because been before being below
between both but by can can't could couldn't did didn't do does doesn't doing don't done down during each either else ever every everything few for from further
get gets getting give given go goes going gone got had hadn't has hasn't have haven't having he he'd he'll her here here's hers him his how how's i i'd i'll i'm i've if in
into is isn't it it's its itself just keep know known let let's like ll made make makes making many may maybe me might mine more most much must my need needed needs no nor
not now of off ok on once one only onto or other our ours out over own please put rather re really remember said same say says see seen shall she should shouldn't show since
so some somebody someone something still such sure take taken tell than thank thanks that that's the their theirs them then there there's these they they're thing things think
this those though through to told too try trying under until up upon us use used uses using ve very want wants was wasn't way we we'd we'll we're we've well went were weren't what
what's when when's where where's whether which while who who's whom whose why why's will with within without won't would wouldn't yes yet you you'd you'll you're you've your
yours hi hello hey
der die das den dem des ein eine einen einem einer und oder aber ist sind war waren wird werden wurde hat haben hatte ich du er sie es wir ihr uns mir mich dir dich sich
nicht kein keine auch nur noch schon mit von zu zum zur bei für auf aus in im an am um als wie was wer wo wann warum welche welcher welches wenn dass man kann können soll
sollte muss müssen bitte unser unsere mein meine dein
le la les un une des du de et ou mais est sont était être a ont avoir je tu il elle nous vous ils elles on ne pas plus que qui quoi quel quelle quels quelles où quand comment
pourquoi avec pour par sur dans en au aux ce cette ces mon ma mes notre nos votre vos
el los las una unos unas y o pero es son era ser estar está están fue yo tú él ella nosotros no se que qué quién cuál cuáles cómo cuándo dónde por para con en del al lo su sus mi mis
nuestro nuestra
o os um uma e é são não que com em no na do da per il gli di del che non con
的 了 是 在 我 你 他 她 它 们 吗 呢 吧 什么 怎么 哪个 哪里 为什么 我们 你们 请 に は を が の と で も か です ます した する ください 何 どう どの`
