package stated

import (
	"strings"
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
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
