package embedded

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

const (
	maxSubjects    = 3
	fewestSessions = 2  // that begin with a subject
	shortSubject   = 4  // bytes that it has at least,
	longSubject    = 16 // and at most
)

// more says what there is to search for beside what a prompt is told: sessions of its project, and three subjects that
// these are about; "" where there is none.
func (s *Store) more(ctx context.Context, in Query) (string, error) {
	past, err := correlation.PastOf(ctx, s.db, in.Project, in.keys)
	if err != nil || past.Sessions == 0 {
		return "", err
	}
	text := fmt.Sprintf("%d sessions since %s", past.Sessions, past.Since.Format(day))
	if past.Sessions == 1 {
		text = "1 session of " + past.Since.Format(day)
	}
	if about := subjects(past.Asked); len(about) > 0 {
		text += ", on " + strings.Join(about, ", ")
	}
	return text, nil
}

// subjects returns the words that most of some prompts share and that say what they are about.
func subjects(prompts []string) []string {
	in, asked := map[string]int{}, map[string]string{} // prompts, and as it was asked first
	for _, prompt := range prompts {
		for _, t := range language.Ask(privacy.Redact(prompt)).Terms {
			if t.Common || t.Pair || t.Part || len(t.Word) < shortSubject || len(t.Word) > longSubject {
				continue
			}
			in[t.Forms[0]]++
			asked[t.Forms[0]] = cmp.Or(asked[t.Forms[0]], t.Word)
		}
	}
	maps.DeleteFunc(in, func(_ string, prompts int) bool { return prompts < fewestSessions })
	var words []string
	for _, form := range slices.SortedFunc(maps.Keys(in), func(a, b string) int {
		return cmp.Or(cmp.Compare(in[b], in[a]), cmp.Compare(asked[a], asked[b]))
	}) {
		words = append(words, asked[form])
	}
	return words[:min(len(words), maxSubjects)]
}
