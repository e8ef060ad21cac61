package language

// Content gives the words of each text that say something, without cases, accents and endings. All texts are read in
// one language, the one that the small words of all of them together are of, so that a word is the same in each. Of an
// identifier it gives the parts.
func Content(texts ...string) [][]string {
	words := make([][]Word, len(texts))
	var folded []string
	for i, text := range texts {
		words[i] = Words(text)
		for _, w := range words[i] {
			folded = append(folded, Fold(w.Text))
		}
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
	if silent()[Fold(w.Text)]&(lang|english_) != 0 {
		return nil
	}
	if w.Unspaced() {
		return pairs(w.Text)
	}
	parts := w.Parts()
	if len(parts) > 1 {
		lang = english_ // as identifiers are indexed
	}
	for _, p := range parts {
		if silent()[Fold(p)]&english_ != 0 && len(parts) > 1 {
			continue
		}
		if t := term(p, lang); t != "" {
			list = append(list, t)
		}
	}
	return list
}
