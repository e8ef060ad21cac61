package stated

import (
	"strings"
	"sync"
	"unicode"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// ScopeOf returns where a rule holds by its own words: in a folder ("in frontend/"), or for a kind of work ("when
// fixing a bug"); "" where they do not say.
func ScopeOf(text string) string {
	if m := folder().FindStringSubmatch(text); m != nil {
		return "in " + strings.Trim(m[1], "`'\"")
	}
	return strings.ToLower(strings.TrimSpace(kindOfWork().FindString(text)))
}

var (
	folder = pattern.New("(?i)(?:^|\\s)(?:in|under|below|inside|within|im|unter|dans|sous|en|bajo|in|nella|na|onder|в) " +
		"(?:the |the folder |folder |ordner |le dossier |la carpeta )?([`'\"]?[\\w.@-]*/[\\w./@-]*[`'\"]?)")
	kindOfWork = pattern.New(`(?i)\b(?:(?:when|whenever|while|before|after|for) (?:you |we )?(?:\w+ing|(?:a |the |new )?` +
		`(?:pull requests?|prs?|commits?|tests?|reviews?|releases?|migrations?|bugs?|docs|documentation))|beim \pL+|` +
		`(?:vor|nach) (?:jedem|jeder|dem|der) \pL+|avant (?:de |chaque )\pL+|antes de (?:cada )?\pL+|prima di \pL+|` +
		`(?:voor|na) elke \pL+|перед каждым \pL+)\b(?: (?:a |an |the |with |new |your |our )?[\pL-]+)?`)
)

// tools have, for words of a line of the profile, the words of prompts that it is for: who asks for a library does not
// say pnpm.
var tools = sync.OnceValue(func() map[string][]string {
	byTerm := map[string][]string{}
	for named, asked := range map[string]string{
		"npm pnpm yarn bun pip uv poetry cargo bundler composer": "install dependency dependencies package library " +
			"module upgrade add setup",
		"tabs spaces prettier gofmt black rustfmt indent": "format reformat indentation style",
		"pytest jest vitest mocha rspec junit":            "test tests testing",
		"lint eslint ruff clippy":                         "commit push check",
	} {
		for term := range strings.FieldsSeq(named) {
			for _, t := range language.Terms(term) {
				byTerm[t] = append(byTerm[t], language.Terms(asked)...)
			}
		}
	}
	return byTerm
})

// Concerns returns the terms of prompts that a statement with some terms is for, beside these.
func Concerns(terms []string) (more []string) {
	for _, t := range terms {
		more = append(more, tools()[t]...)
	}
	return more
}

// crosses reports whether what is said of a person may be told in other projects: it names nothing. A digit, a sign of
// paths, addresses and keys, or a capital inside of the sentence may be of something that is this project's own.
func crosses(text string) bool {
	if strings.ContainsAny(text, "/\\_`@:=#~[]<>{}") || strings.ContainsFunc(text, unicode.IsDigit) {
		return false
	}
	nouns := language.Ask(text).Nouns
	for n, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if word == "I" {
			continue
		}
		for i, r := range word {
			if unicode.IsUpper(r) && (n > 0 && !nouns || i > 0) {
				return false
			}
		}
	}
	return true
}
