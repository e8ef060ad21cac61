package passage

import (
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// What a person typed is told from what they brought along by where it stands: in the first block, outside fences,
// quotations, elements and documents. Length is no sign. For what they state, when in doubt it was not typed.

// A Part of a turn is what the user said, or what the agent said between two calls. Narration that follows narration is
// one part.
type Part struct {
	Text   string
	Traits Traits // those that come of its place
	Who    memory.Who
}

// pieces takes a prompt apart by how its parts came there.
func pieces(prompt string) (list []Part) {
	first, rest, _ := strings.Cut(prompt, chars.BlockMark)
	list = piecesOf(first)
	for block := range strings.SplitSeq(rest, chars.BlockMark) {
		for _, p := range piecesOf(block) {
			if p.Who == memory.Typed {
				p.Who = memory.Pasted
			}
			list = append(list, p)
		}
	}
	return joined(list)
}

// Typed returns what of a prompt its writer stated. Beside a question about a text nothing is: the text might say it.
func Typed(prompt string) string {
	first, _, _ := strings.Cut(prompt, chars.BlockMark)
	var own []string
	for _, p := range outsideDocuments(piecesOf(first)) {
		if p.Who == memory.Typed {
			own = append(own, p.Text)
		}
	}
	text := strings.Join(own, "\n\n")
	if asksAboutText(text) {
		return ""
	}
	return text
}

// joined makes one piece of those that follow each other and came in the same way.
func joined(list []Part) (all []Part) {
	for _, p := range list {
		if p.Text = strings.Trim(p.Text, "\r\n"); strings.TrimSpace(p.Text) == "" {
			continue
		}
		if last := len(all) - 1; last >= 0 && all[last].Who == p.Who {
			all[last].Text += "\n\n" + p.Text
			continue
		}
		all = append(all, p)
	}
	return all
}

var (
	element = pattern.New(`^<([A-Za-z][\w.:-]*)(?:\s[^>]*)?>`)
	// ofFile are the names of elements in which clients put files.
	ofFile = pattern.New(`(?i)file|document|resource|attach|selection|mention|context`)
)

// piecesOf cuts a block into paragraphs and what is marked as not typed: fences, elements, quotations, output.
func piecesOf(block string) (list []Part) {
	var fence language.Fence
	until, within := "", memory.Pasted // the end of an element that is open, and what stands in it
	first, at := 0, 0                  // where the last piece begins, and the line
	add := func(line string, who memory.Who) {
		if last := len(list) - 1; last >= 0 && list[last].Who == who && list[last].Text != "" {
			list[last].Text = block[first : at+len(line)]
			return
		}
		first, list = at, append(list, Part{Text: line, Who: who})
	}
	for line := range strings.SplitSeq(block, "\n") {
		bare := strings.TrimSpace(line)
		opens, closes := fence.Read(bare)
		switch {
		case opens, closes, fence != "":
			add(line, memory.Pasted)
		case until != "":
			add(line, within)
			if strings.Contains(bare, until) {
				until = ""
			}
		case element().MatchString(bare):
			name := element().FindStringSubmatch(bare)[1]
			if within = memory.Pasted; ofFile().MatchString(name) {
				within = memory.File
			}
			add(line, within)
			if until = "</" + name + ">"; strings.Contains(bare, until) || !strings.Contains(block, until) {
				until = ""
			}
		case bare == "":
			list = append(list, Part{Who: memory.Typed}) // the next line begins a paragraph
		case strings.HasPrefix(bare, ">"):
			add(line, memory.Quoted)
		case isOutput(bare):
			add(line, memory.Pasted)
		default:
			add(line, memory.Typed)
		}
		at += len(line) + 1
	}
	return slices.DeleteFunc(list, func(p Part) bool { return strings.TrimSpace(p.Text) == "" })
}

// isOutput reports whether a line was not typed as a sentence: it is of code, a log, a shell.
func isOutput(bare string) bool {
	return slices.ContainsFunc([]string{"❯", "$ ", "//", "/*", "* @", "{", "}"}, func(begins string) bool {
		return strings.HasPrefix(bare, begins)
	}) || language.IsDump(bare)
}

// outsideDocuments marks as pasted what belongs to a document, from its first sign on; before that only the prompt's
// first paragraph was surely typed. Beside a question about a text all other paragraphs are that text.
func outsideDocuments(list []Part) []Part {
	typed := func(p Part) bool { return p.Who == memory.Typed }
	about := slices.IndexFunc(list, func(p Part) bool { return typed(p) && asksAboutText(p.Text) })
	document := slices.IndexFunc(list, func(p Part) bool { return typed(p) && isDocument(p.Text) })
	announced := false
	for i := range list {
		switch {
		case !typed(list[i]):
		case about >= 0 && i != about, document >= 0 && (i > 0 || document == 0),
			announced && !ownItem().MatchString(list[i].Text):
			list[i].Who = memory.Pasted
		case strings.HasSuffix(strings.TrimSpace(list[i].Text), ":") && !rules.In(language.PlainOf(list[i].Text)):
			announced = true
		}
	}
	return list
}

var (
	documentLine = pattern.New(`^(?:#{1,6}\s|\|.*\||={3,}$|-{3,}$|\*{3,}$|\[[^\]]+\]:|!\[|<[a-zA-Z/!]|` +
		`\s*[-*+]\s+(?:\*\*|__|\x60[^\x60]+\x60\s*(?:[-–—:]|$)|\[))`)
	linked   = pattern.New(`\]\([^)]+\)`)
	listItem = pattern.New(`^\s*(?:[-*+•]|\d{1,3}[.)])\s`)
	// ownItem is one as people type it.
	ownItem = pattern.New(`^\s*(?:[-*+•]|\d{1,3}[.)])\s+\p{Ll}`)
)

const (
	itemsOfDocument = 3  // lines of a list that nobody announced as rules, and that begin with a capital
	wrapped         = 55 // characters of a line behind which a sentence goes on in the next
)

// isDocument reports whether a paragraph has what people do not type into a prompt: Markdown's headings, tables and
// links, long lists, lines that were wrapped.
func isDocument(paragraph string) bool {
	lines, items := strings.Split(paragraph, "\n"), 0
	for i, line := range lines {
		switch line = strings.TrimRight(line, " \r"); {
		case documentLine().MatchString(line), strings.Contains(line, "](") && linked().MatchString(line):
			return true
		case ownItem().MatchString(line):
		case listItem().MatchString(line):
			items++
		case i+1 < len(lines) && len(line) > wrapped && !strings.ContainsAny(line[len(line)-1:], ".!?:;") &&
			!listItem().MatchString(lines[i+1]):
			return true
		}
	}
	return items >= itemsOfDocument && !(!listItem().MatchString(lines[0]) && rules.In(language.PlainOf(lines[0])))
}

var (
	// rules announce what holds from now on: a list behind them is the person's own.
	rules = language.NewPhrases(`rules|rule|from now on|always|never|remember|keep in mind|note|preferences|
		going forward|please follow|conventions|regeln|ab jetzt|immer|merke dir|merk dir|règles|désormais|retiens|
		toujours|reglas|recuerda|siempre|regole|ricorda|regras|lembre|regels|onthoud|voortaan|правила|запомни`,
		`规则 记住 以后 ルール 覚えて 규칙 기억`)
	// texts are what people ask about when they paste something; works what they want done with it.
	texts = language.NewPhrases(`the text|this text|the following|text below|below|this file|this doc|these docs|
		this document|this readme|this page|this section|this paragraph|this article|this passage|this snippet|
		this message|this mail|these notes|what does this|what does that|what do these|what is this|what's this|
		what are these|what is that|say|says|mean|means|does this|is this|is that|are these|are they|which of these|
		which of them|what do you think|do you agree|any thoughts|thoughts|who wrote|where is this from|make sense|
		der text|den text|diesen text|folgende|folgenden|was steht|was bedeutet|was heißt das|stimmt das|le texte|
		ce texte|suivant|suivante|que dit|qu'est-ce que|que veut dire|el texto|este texto|siguiente|qué dice|
		qué significa|il testo|questo testo|seguente|cosa dice|cosa significa|o texto|este texto|seguinte|o que diz|
		de tekst|deze tekst|volgende|wat staat|wat betekent|текст|следующий|что значит|что написано`,
		`这段 下面 以下 什么意思 说什么 この文 次の 以下の どういう意味 이_글 이글 무슨_뜻 무슨뜻`)
	always = language.WordSet(`always never immer nie toujours jamais siempre nunca sempre mai altijd nooit`)
	asking = language.WordSet(`what whats does is are who was que qué cosa o wat что`)
	works  = language.NewPhrases(`summarize|summarise|summary of|translate|proofread|proof-read|paraphrase|rephrase|
		reword|rewrite|tl dr|tldr|explain this|explain the|explain what|explain to me|explain|shorten|turn this|
		convert this|extract|classify|critique|review this|check this|read this|look at this|fix the grammar|
		fix the typos|fix the spelling|improve this|simplify|fasse|übersetze|korrigiere|kürze|erkläre|erklär|lies|
		résume|traduis|corrige|explique|resume|traduce|corrige|explica|riassumi|traduci|correggi|spiega|resuma|
		traduza|corrija|explique|vat samen|vertaal|corrigeer|leg uit|переведи|исправь|сократи|объясни|
		перескажи`, `总结 翻译 解释 要約 翻訳 説明 요약 번역 설명`)
)

// asksAboutText reports whether a text asks about one that stands beside it, or wants something done with it.
func asksAboutText(text string) bool {
	for _, s := range language.SplitSentences(chars.OneLine(text)) {
		plain := language.PlainOf(s)
		if works.Begins(plain) && !always()[plain.Word(0)] || texts.In(plain) && language.EndsInQuestion(s) {
			return true
		}
		if asks := language.EndsInQuestion(s) || strings.HasSuffix(s, ":"); asks && works.In(plain) {
			return true
		}
		if head, _, found := strings.Cut(s, ": "); found && asking()[language.PlainOf(head).Word(0)] &&
			texts.In(language.PlainOf(head)) { // "what does this mean: …"
			return true
		}
	}
	return false
}
