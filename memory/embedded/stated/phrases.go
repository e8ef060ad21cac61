package stated

import (
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// What a person says of themselves, and how they want to be answered.
var (
	names = language.NewPhrases(`my name is|my name's|call me|ich heiße|mein name ist|nenn mich|nenne mich|
		je m'appelle|appelle-moi|me llamo|llámame|mi chiamo|chiamami|me chamo|meu nome é|ik heet|mijn naam is|
		noem me|меня зовут|называй меня`, `我叫 叫我 私の名前 と呼んで 제_이름은 제이름은 내_이름은`)
	likes = language.NewPhrases(`i prefer|i'd prefer|i would prefer|i strongly prefer|i like|i really like|i love|
		i hate|i dislike|i don't like|i'd rather|my favorite|my favourite|my preferred|i work as|i work at|i work in|
		i live in|i am allergic|i'm allergic|i always want|i always use|i always prefer|i never use|i usually use|
		ich bevorzuge|ich mag|ich hasse|ich arbeite als|ich arbeite bei|ich wohne|je préfère|je déteste|je n'aime pas|
		j'aime|je travaille comme|prefiero|no me gusta|me gusta|trabajo como|preferisco|non mi piace|mi piace|prefiro|
		não gosto|ik heb liever|ik wil liever|я предпочитаю|я не люблю`,
		`我喜欢 我更喜欢 我偏好 我不喜欢 我讨厌 我习惯 が好き が嫌い 선호합니다 좋아합니다`)
	// answers are what an agent says; answering asks for it in a language or a form.
	answers = language.NewPhrases(`answer|answers|reply|replies|respond|response|responses|apologise|apologize|emoji|
		emojis|explain|explanation|explanations|summary|summaries|bottom line|introduction|saying|speak|talk to me|
		ask me rather|ask rather|your tone|bullet points|antworte|antworten|antwort|erkläre|sprich|réponds|réponse|
		réponses|répondre|responde|respuestas|rispondi|risposte|responda|respostas|antwoord|antwoorden|отвечай|
		ответы`, `回答 回复 答え 回答して 대답 답변`)
	answering = language.NewPhrases(`answer in|reply in|respond in|answer me in|speak|talk to me in|
		write to me in|antworte auf|antworte mir auf|antworte in|réponds en|réponds-moi en|responde en|
		respóndeme en|rispondi in|responda em|antwoord in|отвечай на|отвечай по`, ``)
	manner = language.NewPhrases(`keep your answers|keep your replies|keep your responses|keep answers|keep replies|
		keep responses|when unsure|if unsure|when in doubt|if in doubt|if you are unsure|if you're unsure|
		when you are unsure|when you're unsure|im zweifel|en cas de doute|en caso de duda|in caso di dubbio`, ``)
)

// What a person asks to remember.
var (
	remembers = language.NewPhrases(`remember that|keep in mind that|bear in mind that|for the record|note that|
		don't forget that|never forget that|take note that|merke dir|merk dir|denk daran dass|vergiss nicht dass|
		souviens-toi que|rappelle-toi que|retiens|n'oublie pas que|recuerda que|ten en cuenta|no olvides que|
		ricorda che|ricordati che|tieni presente|lembre-se de que|lembra que|onthoud|vergeet niet dat|запомни|
		имей в виду`, `记住 请记 覚えて 기억해`)
	// remembering is the same behind or before a sign: "remember: …", "…, remember that".
	remembering = pattern.New(`(?i)^(?:please )?(?:remember(?: this)?(?: for (?:later|next time))?|keep in mind|` +
		`fyi|merken|retiens|recuerda|ricorda|запомни)\s*:|` +
		`, (?:please )?remember (?:that|this)\W*$|기억해 ?(?:줘|주세요|두세요|둬)\W*$`)
	ofSelf = language.NewPhrases(`i am|i'm|i have|i've|my|i can't|i cannot|ich bin|ich habe|je suis|j'ai|soy|tengo|
		sono|ho|sou|tenho|ik ben|ik heb|я`, ``)
)

// Rules.
var (
	// lasting: it holds from now on, or on every occasion.
	lasting = language.NewPhrases(`from now on|going forward|from here on|in the future please|in future please|
		make it a rule|a rule that|a rule to|as a rule|as a global rule|
		unless you're|unless you are|unless you can|unless i say|unless i ask|unless i tell|
		unless asked|
		unless told|unless i explicitly|don't ever|do not ever|not ever|never ever|make sure you always|
		make sure you never|make sure to always|whenever you|every time you|each time you|i never want|
		i basically never want|i always want|i don't want you to|i do not want you to|must never|must always|
		should never|should always|you must never|you must always|you shouldn't|you should not|we should always|
		we should never|
		by default use|use by default|eine regel|une règle|una regla|una regola|uma regra|een regel|
		правило|
		ab jetzt|ab sofort|künftig|in zukunft|grundsätzlich|nie wieder|nie mehr|niemals|auf keinen fall|
		du darfst nicht|désormais|à l'avenir|dorénavant|à partir de maintenant|de ahora en adelante|
		a partir de ahora|en adelante|nunca más|d'ora in poi|in futuro|mai più|a partir de agora|
		daqui em diante|nunca mais|vanaf nu|voortaan|in het vervolg|je mag nooit|отныне|впредь|
		с этого момента|в дальнейшем|нельзя`,
		`从现在起 从今以后 以后 永远不要 绝不 不要再 务必 今後 これから 앞으로 지금부터`)
	// recurring: it holds at each such occasion.
	recurring = language.NewPhrases(`before every|before each|before any|after every|after each|after any|
		with every|with each|on every|for every|before you commit|before you push|before you merge|before you release|
		before you deploy|before you publish|before committing|before pushing|before merging|before releasing|
		before deploying|after you commit|after you push|after you merge|when you touch|when you commit|when you push|
		when you merge|when you release|when you deploy|when committing|when pushing|vor jedem|vor jeder|
		nach jedem|nach jeder|bei jedem|bei jeder|bevor du committest|bevor du pushst|avant chaque|après chaque|
		à chaque|avant de committer|avant de pousser|antes de cada|después de cada|en cada|prima di ogni|dopo ogni|
		antes de cada|depois de cada|a cada|voor elke|na elke|bij elke|перед каждым|после каждого|при каждом`,
		`每次 毎回 するたびに 때마다`)
	here = language.NewPhrases(`in this project|in this repo|in this repository|in this codebase|in this code base|
		for this project|for this repo|in diesem projekt|dans ce projet|en este proyecto|in questo progetto|
		neste projeto|in dit project|в этом проекте`, ``)
	avoids = language.NewPhrases(`stop|quit|hör auf|arrête de|arrêtez de|deja de|smetti di|pare de|stop met|
		перестань|avoid|vermeide|évite|évitez|evita|evite|vermijd|избегай`, `别再 그만`)
	// passing: it holds for now alone, or is no wish at all.
	passing = language.NewPhrases(`need to always|have to always|do this next time|do this again|just asked|
		just learned|for now|right now|at the moment|for the moment|for a moment|just this once|this time|
		this one time|today|tomorrow|until then|before we|before you start|before you begin|before starting|yet|
		never mind|always allow|i thought|i think|not sure if|i wonder|maybe|perhaps|vorerst|im moment|diesmal|heute|
		morgen|erst mal|noch nicht|noch kein|noch keinen|pour l'instant|pour le moment|cette fois|aujourd'hui|demain|
		pas encore|por ahora|de momento|esta vez|hoy|mañana|todavía|per ora|per adesso|questa volta|oggi|domani|
		por enquanto|desta vez|hoje|amanhã|voorlopig|deze keer|vandaag|morgen|nog niet|пока|на этот раз|сегодня|
		завтра`, `暂时 目前 这次 今天 明天 今回 とりあえず 今日 明日 일단 이번`)
	// guesses are no orders, whatever their words.
	guesses = language.NewPhrases(`must be due|must be some|must be a|must be because|must have|
		i could imagine`, ``)
	// examples begin a sentence that only illustrates.
	examples = language.NewPhrases(`for example|for instance|e.g|zum beispiel|z.b|par exemple|por ejemplo|
		per esempio|por exemplo|bijvoorbeeld|например`,
		`例如 例えば 예를_들어`)
	remarks = language.NewPhrases(`button|buttons|margin|margins|padding|footer|sidebar|navbar|colour|color|
		colours|colors|font|fonts|icon|icons|modal|logo|background|spacing|aligned|alignment|centered|centred|bold|
		italic|pixel|pixels|px|hover|banner|header|on the left|on the right|layout|knopf|schriftart|hintergrund|farbe|
		bouton|police|couleur|botón|fuente|pulsante|carattere|botão|knop|lettertype|кнопка|шрифт`,
		`按钮 字体 颜色 ボタン 色 버튼 글꼴`)
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
		결정했 바꾸기로 로하자 로_하자 사용하자 쓰기로 유지하자`)
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
	// prefers begins a sentence that puts one thing before another.
	prefers = language.NewPhrases(`use|always use|just use|prefer|we use|i use|we prefer|nimm|verwende|benutze|nutze|
		wir nutzen|wir verwenden|utilise|utilisez|usa|utiliza|usamos|usiamo|usare|use sempre|gebruik|используй|
		используйте|мы используем`, `用 使用 使って 사용`)
	ordinal = language.NewPhrases(`the second one|the first one|the other one|the last one|the blue one|that one|
		this one|the second|the other`, ``)
	insteadOf = language.NewPhrases(`instead of|rather than|statt|anstatt|anstelle|au lieu de|plutôt que|
		en lugar de|en vez de|invece di|em vez de|in plaats van|вместо`, ``)
	namings = language.NewPhrases(`call it|name it|nenn es|nennen wir|appelle-le|appelons|llámalo|chiamalo|
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
		`要我 しましょうか 해_드릴까요 드릴까요`)
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
	beforeOrder = language.WordSet(`please to should must shall you we and but also so then not dont just can lets
		rather or that first instead basically would will`)
	// tellers begin a sentence that tells, in the other languages: its subject stands first.
	tellers = language.WordSet(`der die das den ein eine es er sie ich wir ihr man le la les l un une il elle je on
		nous ils ca ce el los las una yo ello nosotros lo gli uno io noi o os as um uma eu ele ela nos het de
		een ik hij zij we я он она оно мы они это`)
	happens = language.WordSet(`falla fallan fallo échoue échouent plante funktioniert klappt scheitert falha falham
		fallisce falliscono mislukt faalt падает падают`)
	speakers  = language.WordSet(`i id im ill ich je yo io eu ik я`)
	isMissing = language.WordSet(`not in on missing the wrong`)
	pointers  = language.WordSet(`this that these those it option variant second third latter former one ones new both
		all how where what's dies diese diesen dieses das den ce cette ces ça le la les el ese esa este esta il questo
		questa o esse essa dit deze de het это этот эту`)
	demonstratives = language.WordSet(`this these those`)
	ofProject      = language.WordSet(`project repo repository codebase code workspace machine computer team
		app branch`)
	beforeThat = language.WordSet(`do like with after before of use update change in on to from fix add put keep`)
	articles   = language.WordSet(`the this that these those a an it them my your his its der die das den dem ein
		eine einen diese diesen le la les l un une ce cette el los las uno una este esta il lo gli o os as um uma de
		het een deze dit same other another second first`)
	nothing = language.WordSet(`no kein keine keinen pas aucun ningún ninguna nessun nessuna nenhum nenhuma geen`)
	ofWork  = language.WordSet(`edited changed committed touched modified deleted removed merged pushed squashed renamed
		run formatted tested reviewed updated documented written rewritten reformatted logged mocked`)
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
	reports = language.WordSet(`i im ive we it its that thats there theres this you wrong problem worries not the they
		ich wir es das je on il ca yo eso lo io e questo eu isso ik het dat я это мы`)
	// auxiliaries begin an English question or request; questions, with the question words of the other languages.
	auxiliaries = language.WordSet(`are is do does did can could would should will shall has have`)
	questions   = language.WordSet(`are is do does did can could would should will what how why which where when who
		shall has have warum wie was kann können soll pourquoi comment est peux peut por qué cómo puedes
		perché come puoi como pode waarom hoe kun можешь почему как`)
	otherPeople = language.WordSet(`they their theirs user users customer customers visitor visitors`)
	ourselves   = language.WordSet(`you your yours i me my mine we us our im ive id ill youre were dont`)
	chores      = language.WordSet(`commit branch pr issue ticket`)
	// steps are verbs of doing work, not of settling something.
	steps = language.WordSet(`start begin continue test try get check look see take walk work review debug commit push
		run install merge fix investigate find figure go wait ask do talk think step dig focus tackle resume
		verify validate confirm come back proceed finish wrap clean pull write dive assume say read recap
		please now switch open close build deploy plan update complete brainstorm explore discuss analyze
		revisit examine pickup freeze`)
)
