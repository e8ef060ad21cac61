package embedded

import (
	"cmp"
	"context"
	"fmt"
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
func (s *Store) more(ctx context.Context, in search) (string, error) {
	past, err := correlation.PastOf(ctx, s.db, in.project, in.keys)
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
	type subject struct {
		word string
		in   int // prompts
	}
	found := map[string]*subject{}
	for _, prompt := range prompts {
		for _, t := range language.Ask(privacy.Redact(prompt)).Terms {
			if t.Common || t.Pair || t.Part || len(t.Word) < shortSubject || len(t.Word) > longSubject {
				continue
			}
			if found[t.Forms[0]] == nil {
				found[t.Forms[0]] = &subject{word: t.Word}
			}
			found[t.Forms[0]].in++
		}
	}
	var list []subject
	for _, one := range found {
		if one.in >= fewestSessions {
			list = append(list, *one)
		}
	}
	slices.SortFunc(list, func(a, b subject) int {
		return cmp.Or(cmp.Compare(b.in, a.in), cmp.Compare(a.word, b.word))
	})
	var words []string
	for _, one := range list[:min(len(list), maxSubjects)] {
		words = append(words, one.word)
	}
	return words
}
