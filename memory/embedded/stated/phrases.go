package stated

import (
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
)

// What a person likes or is, and what the person asks to remember.
var (
	preferences = language.NewPhrases(`i prefer|i'd prefer|i would prefer|i really like|i like|i love|i hate|
		i dislike|i don't like|i'd rather|i always|i never|i usually|i strongly prefer|my favorite|
		my favourite|my preferred|call me|my name is|i am allergic|i'm allergic|i live in|i work at|i work as|
		i work in|i work on|ich bevorzuge|ich mag|ich möchte kein|ich hasse|ich heiße|ich arbeite|ich wohne|
		mir ist|je préfère|je déteste|je m'appelle|je n'aime pas|j'aime|je travaille|prefiero|no me gusta|
		me gusta|me llamo|trabajo en|preferisco|non mi piace|mi piace|mi chiamo|prefiro|não gosto|
		ik heb liever|ik wil liever|я предпочитаю|я не люблю|меня зовут`,
		`我喜欢 我更喜欢 我偏好 我不喜欢 我讨厌 我习惯 我叫 が好き が嫌い 私の名前 선호합니다 좋아합니다 제이름은`)
	ofPerson = language.NewPhrases(`i prefer|i'd prefer|i would prefer|i like|i love|i hate|i dislike|
		i don't like|i'd rather|i always|i never|i usually|my favorite|my favourite|my name|call me|i live|
		i work|please always answer|please never answer|always answer|always reply|ich bevorzuge|ich mag|
		ich heiße|ich arbeite|ich wohne|je préfère|je m'appelle|je travaille|je n'aime pas|j'aime|prefiero|
		me llamo|me gusta|no me gusta|preferisco|non mi piace|mi piace|mi chiamo|prefiro|não gosto|
		ik heb liever|я предпочитаю|я не люблю`,
		`我喜欢 我更喜欢 我不喜欢 我讨厌 我习惯 我叫`)
	remembers = language.NewPhrases(`remember that|remember|note that|keep in mind|for the record|fyi|
		never forget|merke dir|merk dir|denk daran|souviens|rappelle|retiens|recuerda|ten en cuenta|ricorda|
		lembre|onthoud|запомни`,
		`记住 请记 覚えて 기억해`)
)

// Rules.
var (
	// makesRule: the person has the rule written down.
	makesRule = language.NewPhrases(`make it a rule|a rule that|a rule to|a cursor rule that|rule to specify|
		as a global rule|eine regel|une règle|una regla|una regola|uma regra|een regel|правило`,
		`规则 ルール 규칙`)
	// lasting: it holds from now on, or on every occasion.
	lasting = language.NewPhrases(`from now on|going forward|from here on|next time|in the future please|
		in future please|unless i|unless you're|unless you are|unless you can|unless asked|unless told|
		don't ever|do not ever|not ever|never ever|i want to avoid|i'd like to avoid|please avoid|
		make sure you always|make sure you never|make sure to always|whenever you|every time you|
		each time you|i never want|i basically never want|i always want|i don't want you to|
		i do not want you to|i don't want us|must not|must never|must always|must be|should never|
		should always|you must|you should always|you should never|you shouldn't|you should not|
		we should always|we should never|we must|we never|we always|as a rule|by default use|ab jetzt|
		ab sofort|künftig|in zukunft|grundsätzlich|nie wieder|nie mehr|niemals|auf keinen fall|du sollst|
		du darfst nicht|désormais|à l'avenir|dorénavant|à partir de maintenant|il ne faut pas|
		il faut toujours|tu dois|tu ne dois|évite|évitez|de ahora en adelante|a partir de ahora|en adelante|
		debes|no debes|evita|nunca más|d'ora in poi|in futuro|devi|non devi|evitare|mai più|a partir de agora|
		daqui em diante|você deve|evite|nunca mais|vanaf nu|voortaan|in het vervolg|je moet altijd|
		je mag nooit|vermijd|отныне|впредь|с этого момента|в дальнейшем|нельзя|избегай|всегда нужно`,
		`从现在起 从今以后 以后 总是 永远不要 绝不 不要再 务必 今後 これから 必ず 絶対に 앞으로 항상 절대`)
	// passing: it holds for now alone, or is no wish at all.
	passing = language.NewPhrases(`need to always|have to always|do this next time|do this again|just asked|
		just learned|for now|right now|at the moment|just this once|this time|this one time|today|
		for the moment|until then|before we move on|before we start|before you start|yet|i thought|i think|
		not sure if|i wonder|vorerst|im moment|diesmal|heute|erst mal|noch nicht|pour l'instant|
		pour le moment|cette fois|aujourd'hui|por ahora|de momento|esta vez|hoy|per ora|per adesso|
		questa volta|oggi|por enquanto|desta vez|hoje|voorlopig|deze keer|vandaag|пока|на этот раз|сегодня`,
		`暂时 目前 这次 今天 今回 とりあえず 今日 일단 이번`)
	shuns = language.NewPhrases(`avoid|avoiding|vermeide|évite|évitez|evita|evite|vermijd|избегай`, ``)
	// guesses are no orders, whatever their words.
	guesses = language.NewPhrases(`must be due|must be some|must be a|must be because|must have|
		i could imagine`, ``)
	// examples begin a sentence that only illustrates.
	examples = language.NewPhrases(`for example|for instance|e.g|zum beispiel|z.b|par exemple|por ejemplo|
		per esempio|por exemplo|bijvoorbeeld|например`,
		`例如 例えば 예를 들어`)
	// complaints: something was not done as it should have been.
	complaints = language.NewPhrases(`you're|you should|you didn't|you did not|you don't|you edited|
		you changed|you wrote|you made|you put|you used|you deleted|you removed|you created|you committed|
		you pushed|you forgot|you keep|you just|you still|you skipped|you ignored|you need|why are you|
		why did you|why didn't you|why aren't you|why are we|why do you keep|did you forget|i asked you|
		i told you|i said|i only wanted|i didn't ask|stop|du hast|du sollst|warum hast du|warum änderst du|
		ich habe dir gesagt|hör auf|pourquoi tu|pourquoi as-tu|je t'ai dit|je t'ai demandé|arrête|por qué has|
		te dije|te pedí|deja de|perché hai|ti ho detto|ti ho chiesto|smetti|por que você|eu disse|pare de|
		je hebt|waarom heb je|ik zei|stop met|почему ты|я же сказал|я просил|перестань`,
		`你又 为什么你 我说过 别再 停止 なぜ と言った やめて 왜 말했`)
	// reproaches: questions that are complaints.
	reproaches = language.NewPhrases(`why are you|why did you|why didn't you|why aren't you|why are we|
		why do you keep|did you forget|warum hast du|warum änderst du|pourquoi tu|pourquoi as-tu|por qué has|
		perché hai|por que você|waarom heb je|почему ты`,
		`为什么你 なぜ 왜`)
	// wishes tell how to work; they may mean the moment.
	wishes = language.NewPhrases(`don't|do not|please don't|please do not|make sure|be sure|be careful|
		no need to|mach kein|bitte nicht|achte darauf|stell sicher|n'oublie pas|ne fais pas|assure-toi|
		veille à|no hagas|no uses|asegúrate|non fare|non usare|assicurati|não faça|não use|certifique-se|niet|
		zorg dat|не делай|не используй|убедись`,
		`不要 请不要 确保 しないで 하지 마`)
	// oneTurn: what to do, or not yet to do, in this turn.
	oneTurn = language.NewPhrases(`write code|write any code|code yet|don't code|implement yet|yet|for now|
		right now|this time|before we|run anything|go ahead|today|you're right|you are right|you just said|
		noch nicht|vorerst|pour l'instant|por ahora|per ora|por enquanto|voorlopig|пока`,
		`暂时 今回 일단`)
)

// Decisions.
var (
	// settles: it can mean nothing else.
	settles = language.NewPhrases(`we decided|we've decided|we have decided|i decided|i've decided|
		i have decided|we agreed|we've agreed|we chose|i chose|we settled|decided to|decided on|we go with|
		go with|we are going with|going with|we went with|i'll go with|i'd go with|i'd say we|lock in|
		we'll use|we will use|we'll keep|we will keep|we'll go|we'll stick|we keep|we stay with|we stick with|
		stick with|we use|we no longer|we switched|we switch|we're switching|we moved to|we migrated|
		we replaced|we dropped|we're dropping|we don't need|we do not need|we don't want|we do not want|
		we won't|we will not|we want|we'd like|let us use|let's not|i want to avoid|i'd like to avoid|
		i don't want|convinced me|i'm going to go|i'm going to use|i'm going to keep|i'm going with|
		i'd like to use|i want to use|i'd like to keep|i want to keep|just use|as the default|from now on|
		get rid of|not needed anymore|doesn't need to be|consider it approved|consider the plan approved|
		haben entschieden|wir haben uns|beschlossen|ab sofort|wir nehmen|nehmen wir|wir bleiben|bleiben wir|
		wir behalten|behalten wir|wir verwenden|verwenden wir|wir nutzen|nutzen wir|wir machen es|
		machen wir es|wir brauchen kein|wir wollen kein|wir verzichten|lass uns|dann nehmen|nous avons décidé|
		on a décidé|j'ai décidé|nous avons choisi|on garde|gardons|on prend|prenons|on utilise|utilisons|
		on reste|restons|on part sur|partons sur|on passe à|passons à|on n'a pas besoin|on ne veut pas|
		nous utilisons|nous gardons|nous prenons|désormais|hemos decidido|decidimos|he decidido|usemos|usamos|
		vamos a usar|nos quedamos con|quedémonos con|mantenemos|mantengamos|vamos con|optamos por|
		no necesitamos|no queremos|a partir de ahora|abbiamo deciso|ho deciso|usiamo|teniamo|manteniamo|
		andiamo con|restiamo|passiamo a|non ci serve|non vogliamo|d'ora in poi|decidi|vamos usar|vamos com|
		vamos manter|mantemos|ficamos com|não precisamos|não queremos|a partir de agora|we hebben besloten|
		we gebruiken|we houden|we kiezen|we gaan voor|we nemen|we blijven|laten we|we hebben geen|
		we willen geen|мы решили|решили|решено|используем|будем использовать|оставим|оставляем|остаемся|берем|
		возьмем|перейдем|переходим|нам не нужен|нам не нужна|нам не нужно`,
		`决定 改用 改为 换成 不再 采用 就用 我们用 还是用 保留 決めた 決定 ことにし にしよう にしましょう を使おう を使いましょう 結論
		결정했 바꾸기로 로하자 로 하자 사용하자 쓰기로 유지하자`)
	// instead: one thing in another's place, told as an order.
	instead = language.NewPhrases(`instead|instead of|rather than|not|and not|but not|over|statt|anstatt|
		anstelle|und nicht|au lieu de|plutôt que|plutôt|pas|en lugar de|en vez de|no|invece di|non|em vez de|
		não|in plaats van|niet|вместо|а не`,
		`而不是 代替 ではなく 代わりに 대신 말고`)
	chooses = language.NewPhrases(`use|just use|keep|take|go back to|go with|switch to|name it|call it|
		we want|i want|store|put|make it|have it|verwende|verwenden|benutze|nimm|nutze|behalte|utilise|
		utilisez|garde|gardez|prends|prenez|mets|usa|utiliza|mantén|pon|quédate|tieni|metti|usare|mantenha|
		coloque|gebruik|neem|houd|используй|используйте|оставь|возьми|бери`,
		`用 使用 使って 사용`)
	insteadOf = language.NewPhrases(`instead of|rather than|statt|anstatt|anstelle|au lieu de|plutôt que|
		en lugar de|en vez de|invece di|em vez de|in plaats van|вместо`, ``)
	names = language.NewPhrases(`call it|name it|nenn es|nennen wir|appelle-le|appelons|llámalo|chiamalo|
		chame|noem het|назови`, ``)
	// refuses begins an answer that settles by a no.
	refuses = language.NewPhrases(`no|nope|nah|nein|non|não|nee|нет`,
		`不 いいえ 아니`)
	// wants: a report that goes on so is none.
	wants = language.NewPhrases(`i want|i only|i don't want|i'd|we want|we should|we need|it should|
		that should|there should|it needs|ich will|ich möchte|wir wollen|je veux|quiero|voglio|quero|ik wil|
		я хочу`, ``)
	// holds says how something is to be.
	holds = language.NewPhrases(`should be|should only|should just|should not|shouldn't|should always|
		should never|should use|should have|should stay|should go|should live|should default|should come|
		should contain|should also|must|soll|sollte|sollen|darf|muss|doit|devrait|debe|debería|deve|dovrebbe|
		deveria|moet|zou moeten|должен|должна|должно|должны`, ``)
	// doubts: it is an opinion, a report, or about what was expected.
	doubts = language.NewPhrases(`i think|i thought|seems|looks like|not sure|i wonder|maybe we should|
		what if|if we|if you|should work|should be able|should be ready|should be working|should be fixed|
		should have been|should we|should i|should now|that should|this should|it should work|shouldn't it|
		supposed to|ich glaube|ich denke|je pense|je crois|creo que|penso che|acho que|ik denk|думаю|кажется`, ``)
	// choices: a question that any short answer settles; matters: one that a yes or a no settles; offers: one to which
	// yes is no more than go on.
	choices = language.NewPhrases(`or|which|prefer|what should|how should|where should|oder|welche|welcher|
		welches|ou|quel|quelle|o|qué|cuál|quale|qual|of|welke|или|какой|какую`,
		`还是 哪 どちら どれ 아니면 어느`)
	matters = language.NewPhrases(`should we|should it|should this|should that|should the|shall we|do we|
		can we|could we|is it ok|is it okay|is that ok|is that okay|are we|sollen wir|soll es|soll das|
		behalten wir|brauchen wir|doit-on|faut-il|on garde|garde-t-on|devons-nous|debemos|deberíamos|dobbiamo|
		devemos|moeten we|zullen we|нам нужно|стоит ли|оставить ли`,
		`要不要 是否 ますか でしょうか 할까요`)
	offers = language.NewPhrases(`would you|do you want me|want me|shall i|should i|may i|can i|can you|
		could you|do you see|have you|do you have|ready|anything else|soll ich|möchtest du|veux-tu que|
		voulez-vous que|dois-je|quieres que|te gustaría|vuoi che|posso|quer que|wil je dat|zal ik|хочешь|мне`,
		`要我 しましょうか`)
	affirms = language.NewPhrases(`yes|yep|yeah|yup|ja|oui|sí|si|sì|sim|да|correct|right|exactly|genau|exact`,
		`是 好 はい 네`)
	exceptions = language.NewPhrases(`but|except|only|just|aber|nur|mais|sauf|pero|solo|ma|mas|maar|alleen|но|
		только`, ``)
)

var (
	// adverbs make an order of a sentence, or tell how things are.
	adverbs = language.WordSet(`never always niemals nie immer jamais toujours nunca siempre sempre nooit altijd
		никогда всегда`)
	// beforeOrder are words behind which an English adverb orders.
	beforeOrder = language.WordSet(`please to should must shall you we i and but also so then not dont just can lets
		rather or that first instead basically would will`)
	// tellers begin a sentence that tells, in the other languages: its subject stands first.
	tellers = language.WordSet(`der die das den ein eine es er sie ich wir ihr man le la les l un une il elle je on
		nous ils ca ce el los las una yo ello nosotros lo gli uno io noi o os as um uma eu ele ela nos het de
		een ik hij zij we я он она оно мы они это`)
	begs = language.WordSet(`bitte soll sollst sollen sollte muss mussen darf svp plait dois doit doivent faut favor
		debes debe deben hay devi deve devono favore deves devem alstublieft moet mag пожалуиста нужно надо
		должны`)
	pastVerbs = language.WordSet(`came went got was were had did saw found made said took gave ran ended became seen
		been done would could is are has`)
	usesS          = language.WordSet(`pass process access address focus assess discuss press express`)
	beforeProposal = language.WordSet(`ok okay yes yep yeah great good cool awesome so and but then now next also
		perfect sure fine alright thanks no right well maybe actually`)
	fillers = language.WordSet(`just then also instead first all simply please definitely actually`)
	forward = language.WordSet(`on to forward ahead past into along over`)
	reports = language.WordSet(`i we it its that thats there theres this you wrong problem worries not the they ich
		wir es das je on il ca yo eso lo io e questo eu isso ik het dat я это мы`)
	// auxiliaries begin an English question or request; questions, with the question words of the other languages.
	auxiliaries = language.WordSet(`are is do does did can could would should will shall has have`)
	questions   = language.WordSet(`are is do does did can could would should will what how why which where when who
		shall has have warum wie was kann können soll pourquoi comment est peux peut por qué cómo puedes
		perché come puoi como pode waarom hoe kun можешь почему как`)
	otherPeople = language.WordSet(`they them their theirs user users customer customers visitor visitors`)
	ourselves   = language.WordSet(`you your yours i me my mine we us our im ive id ill youre were dont`)
	// steps are verbs of doing work, not of settling something.
	steps = language.WordSet(`start begin continue test try get check look see take walk work review debug commit push
		run install merge fix investigate find figure go wait ask do talk think step dig focus tackle resume
		verify validate confirm come back proceed finish wrap clean pull write dive assume say read recap
		please now switch open close build deploy plan update complete brainstorm explore discuss analyze
		revisit`)
)
