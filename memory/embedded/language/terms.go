// Package language knows words: how texts and questions are cut into them, their stems, which of them say nothing, what
// questions ask for, and which time they name. Text in, terms out: it knows no database.
//
// The terms of a text are what the index holds of it; the terms of a question are looked for there. Both are made by
// the same functions, so that they match: words in lower case without accents and endings (Snowball), identifiers as a
// whole and in parts (maxRetryCount: maxretrycount, max, retry, count), pairs of characters for the scripts that set no
// spaces. Stop words are neither kept nor looked for.
package language

import (
	"slices"
	"strings"
	"unicode"
)

// Terms returns the terms of a text: what the index holds of it, in their order.
func Terms(text string) []string {
	words := Words(text)
	lang, _ := languageOf(words)
	terms := make([]string, 0, len(words))
	for _, w := range words {
		if !isStopWord(w.Folded, lang|english_) {
			terms = w.terms(terms, lang)
		}
	}
	return terms
}

// terms appends the terms of one word: itself and, of an identifier, its parts. In a text that is not English the
// word's English stem is added, because names are the same in all languages.
func (w Word) terms(list []string, lang set) []string {
	if w.Run {
		return append(list, pairs(w.Text)...)
	}
	add := func(part string, in set) string {
		t := term(part, in)
		if t != "" {
			list = append(list, t)
		}
		return t
	}
	parts := w.Parts()
	if len(parts) == 1 {
		if t := add(parts[0], lang); lang != english_ {
			if e := term(parts[0], english_); e != t && e != "" {
				list = append(list, e)
			}
		}
		return list
	}
	whole := ""
	for _, p := range parts {
		whole += Fold(p)
		if !isStopWord(Fold(p), english_) {
			add(p, english_)
		}
	}
	if whole != "" && len(whole) <= longestTerm {
		list = append(list, whole)
	}
	return list
}

// EndsInQuestion reports whether a text ends in a question mark, quotation marks and Markdown aside, or asks in
// Japanese.
func EndsInQuestion(text string) bool {
	text = strings.TrimRight(text, " \t\r\n*_`\"')»”")
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") || strings.HasSuffix(text, "か。")
}

// pairs returns the overlapping pairs of characters of a run of a script without spaces. Pairs in Hiragana, in which
// Japanese writes its endings, and stop pairs are left out.
func pairs(run string) []string {
	runes := []rune(run)
	if len(runes) == 1 {
		if !unicode.Is(unicode.Han, runes[0]) { // a particle
			return nil
		}
		return []string{run}
	}
	list := make([]string, 0, len(runes)-1)
	for i := range len(runes) - 1 {
		if pair := string(runes[i : i+2]); !unspacedStop()[pair] &&
			!(unicode.Is(unicode.Hiragana, runes[i]) && unicode.Is(unicode.Hiragana, runes[i+1])) {
			list = append(list, pair)
		}
	}
	return list
}

// unspacedStop are the pairs of characters that only ask or say nothing, in Chinese, Japanese, Korean and Thai: the
// stop words of these languages.
var unspacedStop = WordSet(`
	我们 你们 他们 现在 什么 怎么 怎样 如何 哪个 哪些 哪里 为什 为何 还是 多久 多少 几个 几次 可以 应该 请问 时候 一个 这个 那个 没有 做了 了什 查了 是什 们的 的是
	么时 在哪 是谁 有什
何を 何が 誰が どこ です ます でし まし した ない する して いる から まで
무엇 언제 누가 어떻 떻게 우리 입니 니다 인가 가요 무슨 어떤 얼마 있나 나요 뭐야 습니 합니 했습
คือ ของ ที่ และ ใน เรา ไหน อะไ ะไร ไหม ครั คะ`)

// Content returns the words of each text that say something, in lower case, without accents and endings; of an
// identifier the parts. All texts are taken to be in one language, that of the stop words in all of them together, so
// that a word comes out the same in each.
func Content(texts ...string) [][]string {
	words := make([][]Word, len(texts))
	for i, text := range texts {
		words[i] = Words(text)
	}
	lang, _ := languageOf(slices.Concat(words...))
	content := make([][]string, len(texts))
	for i := range texts {
		for _, w := range words[i] {
			content[i] = append(content[i], w.content(lang)...)
		}
	}
	return content
}

func (w Word) content(lang set) (list []string) {
	if isStopWord(w.Folded, lang|english_) {
		return nil
	}
	if w.Run {
		return pairs(w.Text)
	}
	parts := w.Parts()
	if len(parts) > 1 {
		lang = english_ // as identifiers are indexed
	}
	for _, p := range parts {
		if isStopWord(Fold(p), english_) && len(parts) > 1 {
			continue
		}
		if t := term(p, lang); t != "" {
			list = append(list, t)
		}
	}
	return list
}
