package language

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/chars"
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
	Nouns   bool // its language writes all nouns with a capital
	Foreign bool // it is in another language than English
	Asks    bool // it is a question
}

// maxTerms is how many terms a question has at most; a prompt may have a megabyte.
const maxTerms = 400

// Ask reads a question. Of a very long one the beginning and the end are read.
func Ask(text string) Question {
	text = chars.Ends(text, 24<<10)
	words := Words(text)
	lang, sure := languageOf(words)
	r := reading{text: text, lang: lang, forms: lang | english_, shouts: strings.ToUpper(text) == text, known: Set{}}
	if !sure {
		r.forms = all
	}
	r.Nouns, r.Foreign = lang == german_, sure && lang != english_
	r.Asks = EndsInQuestion(text)
	for _, w := range words {
		if !isStopWord(w.Folded, lang|english_) {
			r.read(w)
		}
	}
	return r.Question
}

// A reading is a question while its words are read.
type reading struct {
	Question
	text   string
	lang   set
	forms  set  // the languages whose stems a word may have
	shouts bool // it is all in capitals
	known  Set  // the first forms of its terms
}

func (r *reading) add(t Term) {
	if len(t.Forms) == 0 || t.Forms[0] == "" || r.known[t.Forms[0]] || len(r.Terms) >= maxTerms {
		return
	}
	r.known[t.Forms[0]] = true
	r.Terms = append(r.Terms, t)
}

func (r *reading) read(w Word) {
	parts := w.Parts()
	switch {
	case w.Run:
		r.Foreign = true
		for _, pair := range pairs(w.Text) {
			r.add(Term{Forms: []string{pair}, Pair: utf8.RuneCountInString(pair) > 1, Word: pair})
		}
	case len(parts) == 0: // _
	case len(parts) == 1:
		digits := strings.IndexFunc(w.Text, unicode.IsDigit) >= 0
		inner := strings.IndexFunc(w.Text[1:], unicode.IsUpper) >= 0 && !r.shouts && !strings.HasSuffix(w.Text, "s")
		r.add(Term{Forms: formsOf(w.Text, r.forms), Name: r.names(w), Word: w.Text,
			Identifier: digits && !shortNumber(r.text, w) || inner, Common: common()[w.Folded]})
	case strings.Contains(w.Text, "-") && !slices.ContainsFunc(parts[1:], r.says): // utilisons-nous
		if f := Fold(parts[0]); !isStopWord(f, r.lang|english_) {
			r.add(Term{Forms: formsOf(parts[0], r.forms), Common: common()[f], Word: parts[0]})
		}
	default:
		r.readParts(w, parts)
	}
}

// readParts reads an identifier, or a word with a sign in it.
func (r *reading) readParts(w Word, parts []string) {
	possessive := len(parts) == 2 && strings.ContainsAny(w.Text, "'’") // Anna's
	if whole := Fold(strings.Join(parts, "")); !possessive && len(whole) <= longestTerm {
		// garde-t-on, follow-up
		compound := strings.IndexFunc(w.Text, func(c rune) bool { return c != '-' && !unicode.IsLower(c) }) < 0
		r.add(Term{Forms: []string{whole}, Identifier: !compound, Part: compound, Word: w.Text})
	}
	for _, p := range parts {
		if f := Fold(p); !isStopWord(f, english_) {
			r.add(Term{Forms: formsOf(p, english_|r.lang), Name: possessive && r.names(w), Common: common()[f],
				Part: !possessive, Word: p})
		}
	}
}

// names reports whether a word has a capital inside a sentence.
func (r *reading) names(w Word) bool {
	before := strings.TrimRight(r.text[:w.At], " \t\n\r\"'([{*`#>-¿¡«“„")
	return strings.IndexFunc(w.Text, unicode.IsUpper) == 0 && before != "" &&
		!strings.ContainsAny(before[len(before)-1:], ".!?:")
}

// says reports whether a part of a word is one of its own.
func (r *reading) says(part string) bool { return len(part) > 1 && !isStopWord(Fold(part), r.lang) }

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
