// Package language knows words: how texts and questions are cut into them, their stems, which of them say nothing, what
// questions ask for, and which time they name. Text in, terms out: it knows no database.
//
// The terms of a text are what the index holds of it; the terms of a question are looked for there. Both are made by
// the same functions, so that they match: words in lower case without accents and endings (Snowball), identifiers as a
// whole and in parts (maxRetryCount: maxretrycount, max, retry, count), pairs of characters for the scripts that set no
// spaces. Stop words are neither kept nor looked for.
package language

import "strings"

// Terms returns the terms of a text: what the index holds of it, in their order.
func Terms(text string) []string {
	words := Words(text)
	folded := foldedWords(words)
	lang, _ := languageOf(folded)
	terms := make([]string, 0, len(words))
	for i, w := range words {
		if !isStopWord(folded[i], lang|english_) {
			terms = w.terms(terms, lang)
		}
	}
	return terms
}

// terms appends the terms of one word: itself and, of an identifier, its parts. In a text that is not English the
// word's English stem is added, because names are the same in all languages.
func (w Word) terms(list []string, lang set) []string {
	if w.isUnspaced() {
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

// opensSentence reports whether what follows text begins a sentence.
func opensSentence(text string) bool {
	text = strings.TrimRight(text, " \t\n\r\"'([{*`#>-¿¡«“„")
	return text == "" || strings.ContainsAny(text[len(text)-1:], ".!?:")
}

// EndsInQuestion reports whether a text ends in a question mark, quotation marks and Markdown aside, or asks in
// Japanese.
func EndsInQuestion(text string) bool {
	text = strings.TrimRight(text, " \t\r\n*_`\"')»”")
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") || strings.HasSuffix(text, "か。")
}
