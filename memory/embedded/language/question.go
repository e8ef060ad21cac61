package language

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Term is a word, or a part of an identifier, that a question asks for.
type Term struct {
	Forms      []string // how texts may have it: its stems in the languages that the question may be in
	Name       bool     // it has a capital inside a sentence
	Identifier bool     // it has digits, signs or capitals inside
	Common     bool     // it says little in work with an agent (Common)
	Pair       bool     // it is a pair of characters of a script without spaces
	Part       bool     // it is a part of an identifier that is a term, too
	Word       string   // as it was asked
}

// A Question is a prompt as it is looked for in the index.
type Question struct {
	Terms   []Term
	Who     bool // it asks for a name or a thing
	When    bool // it asks for a time
	Nouns   bool // its language writes all nouns with a capital
	Foreign bool // it is in another language than English
}

// whoWords ask for a name or a thing, whenWords for a time; the others do where no spaces are set.
var (
	whoWords = WordSet(`who whom whose what which where name named called title`,
		`wer wem wen was welche welcher welches wo heißt name namen`, `qui quoi quel quelle où nom appelle`,
		`quién qué cuál dónde nombre llama`, `chi cosa quale dove nome chiama`, `quem qual onde nome chama`,
		`wie wat welke waar naam heet`, `кто что какой какая где`)
	whenWords    = WordSet(`when wann quand cuando quando wanneer когда since deadline date`)
	unspacedWho  = strings.Fields(`谁 什么 哪 叫 誰 何 どこ どれ 누가 무엇 어디 ใคร อะไร`)
	unspacedWhen = strings.Fields(`什么时候 何时 哪天 几号 いつ 언제 เมื่อไ`)
)

// maxTerms is how many terms a question has at most; a prompt may have a megabyte.
const maxTerms = 400

// Ask reads a question. Of a very long one the beginning and the end are read.
func Ask(text string) Question {
	text = bothEnds(text, 24<<10)
	words := Words(text)
	folded := foldedWords(words)
	lang, sure := languageOf(folded)
	forms := lang | english_
	if !sure {
		forms = all
	}
	q := Question{Nouns: lang == german_, Foreign: sure && lang != english_}
	asks := func(words Set, unspaced []string) bool {
		return slices.ContainsFunc(folded, func(w string) bool { return words[w] }) ||
			slices.ContainsFunc(unspaced, func(w string) bool { return strings.Contains(text, w) })
	}
	q.Who, q.When = asks(whoWords(), unspacedWho), asks(whenWords(), unspacedWhen)
	seen := map[string]bool{}
	add := func(t Term) {
		if len(t.Forms) == 0 || t.Forms[0] == "" || seen[t.Forms[0]] || len(q.Terms) >= maxTerms {
			return
		}
		seen[t.Forms[0]] = true
		q.Terms = append(q.Terms, t)
	}
	shouts := strings.ToUpper(text) == text
	for i, w := range words {
		if isStopWord(folded[i], lang|english_) {
			continue
		}
		if w.isUnspaced() {
			q.Foreign = true
			for _, pair := range pairs(w.Text) {
				add(Term{Forms: []string{pair}, Pair: utf8.RuneCountInString(pair) > 1, Word: pair})
			}
			continue
		}
		named := isCapitalized(w.Text) && !opensSentence(text[:w.At])
		parts := w.Parts()
		if len(parts) == 0 { // _
			continue
		}
		if len(parts) == 1 {
			digits := strings.IndexFunc(w.Text, unicode.IsDigit) >= 0
			inner := strings.IndexFunc(w.Text[1:], unicode.IsUpper) >= 0 && !shouts && !strings.HasSuffix(w.Text, "s")
			add(Term{Forms: formsOf(w.Text, forms), Name: named, Identifier: digits && !shortNumber(text, w) || inner,
				Common: common()[folded[i]], Word: w.Text})
			continue
		}
		// utilisons-nous
		if rest := parts[1:]; strings.Contains(w.Text, "-") &&
			!slices.ContainsFunc(rest, func(p string) bool { return len(p) > 1 && !isStopWord(Fold(p), lang) }) {
			if f := Fold(parts[0]); !isStopWord(f, lang|english_) {
				add(Term{Forms: formsOf(parts[0], forms), Common: common()[f], Word: parts[0]})
			}
			continue
		}
		whole := ""
		for _, p := range parts {
			whole += Fold(p)
		}
		short := len(parts) == 2 && strings.ContainsAny(w.Text, "'’") // Anna's
		if !short && len(whole) <= longestTerm {
			// garde-t-on, follow-up
			compound := strings.IndexFunc(w.Text, func(r rune) bool { return r != '-' && !unicode.IsLower(r) }) < 0
			add(Term{Forms: []string{whole}, Identifier: !compound, Part: compound, Word: w.Text})
		}
		for _, p := range parts {
			f := Fold(p)
			if !isStopWord(f, english_) {
				add(Term{Forms: formsOf(p, english_|lang), Name: short && named,
					Common: common()[f], Part: !short, Word: p})
			}
		}
	}
	return q
}

// shortNumber reports whether a word is a number of one or two digits, which counts things: no F5, and no #16.
func shortNumber(text string, w Word) bool {
	return len(w.Text) <= 2 && strings.Trim(w.Text, "0123456789") == "" && (w.At == 0 || text[w.At-1] != '#')
}

func formsOf(part string, in set) []string {
	var list []string
	for rest := in; rest != 0; rest &= rest - 1 {
		if t := term(part, rest&-rest); t != "" && !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list
}

// bothEnds keeps the beginning and the end of a text, most bytes in all.
func bothEnds(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most/2], "") + "\n" + strings.ToValidUTF8(text[len(text)-most/2:], "")
}
