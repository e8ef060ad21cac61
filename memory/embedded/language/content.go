package language

// Content returns the words of each text that say something, in lower case, without accents and endings; of an
// identifier the parts. All texts are taken to be in one language, that of the stop words in all of them together, so
// that a word comes out the same in each.
func Content(texts ...string) [][]string {
	words := make([][]Word, len(texts))
	var folded []string
	for i, text := range texts {
		words[i] = Words(text)
		folded = append(folded, foldedWords(words[i])...)
	}
	lang, _ := languageOf(folded)
	content := make([][]string, len(texts))
	for i := range texts {
		for _, w := range words[i] {
			content[i] = append(content[i], w.content(lang)...)
		}
	}
	return content
}

func (w Word) content(lang set) (list []string) {
	if isStopWord(Fold(w.Text), lang|english_) {
		return nil
	}
	if w.isUnspaced() {
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
