package memory

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// Auto asks the daemon and the embedded store: for a session's start the store only where the daemon fails. Nobody is
// told of the failure: an agent that knows less is better than a prompt that waits. Either may be nil. Errors are the
// embedded store's, except for ErrOwned and a cancelled context, after which the store is not asked.
type Auto struct{ Daemon, Embedded Source }

// grace is how long the embedded store's Start may take once the daemon has used up the context's deadline.
const grace = time.Second

var _ Source = Auto{}

// Start implements Source. Where the daemon gave nothing and its start of the key is in doubt (ErrKeySpent), the
// embedded store's context comes with KeySpent set, and without an error.
func (a Auto) Start(ctx context.Context, s Session) (Context, error) {
	spent := false
	if a.Daemon != nil {
		c, err := a.Daemon.Start(ctx, s)
		spent = errors.Is(err, ErrKeySpent)
		switch {
		case err == nil, spent && !c.Empty():
			c.KeySpent = c.KeySpent || spent
			return c, nil
		case errors.Is(err, ErrOwned), errors.Is(ctx.Err(), context.Canceled), a.Embedded == nil:
			return Context{}, err
		}
	}
	if a.Embedded == nil {
		return Context{}, ErrUnavailable
	}
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
	}
	c, err := a.Embedded.Start(ctx, s)
	c.KeySpent = spent
	return c, err
}

// Recall implements Source. Both are asked at once: the daemon's items go first, then those of ours that it has nothing
// for, each once. The profile is ours. A prompt waits for it, so the embedded store gets no time past the context's
// deadline.
func (a Auto) Recall(ctx context.Context, s Session, prompt string, seen []string) (Context, error) {
	switch {
	case a.Daemon == nil && a.Embedded == nil:
		return Context{}, ErrUnavailable
	case a.Daemon == nil:
		return a.Embedded.Recall(ctx, s, prompt, seen)
	case a.Embedded == nil || errors.Is(ctx.Err(), context.Canceled):
		return a.Daemon.Recall(ctx, s, prompt, seen)
	}
	var ours Context
	var oursErr error
	local := make(chan struct{})
	const work = "recall beside a daemon"
	guard.Go(work, func() {
		defer close(local)
		oursErr = guard.Try(work, func() (err error) {
			ours, err = a.Embedded.Recall(ctx, s, prompt, seen)
			return err
		})
	})
	c, err := a.Daemon.Recall(ctx, s, prompt, seen)
	<-local
	switch {
	case errors.Is(err, ErrOwned):
		return c, err
	case err != nil:
		return ours, oursErr
	case oursErr == nil:
		c.add(ours)
	}
	return c, nil
}

// add adds what another source has for the same prompt and this one does not say.
func (c *Context) add(other Context) {
	texts := make([]string, len(c.Items))
	lowest := 0.0
	for i, it := range c.Items {
		texts[i] = it.Text
		lowest = min(lowest, it.Score)
	}
	isNew := Beyond(texts)
	for _, it := range other.Items {
		if !isNew(it.Text) {
			continue
		}
		lowest-- // scores of two sources do not compare
		it.Score = lowest
		c.Items = append(c.Items, it)
	}
	c.Profile, c.Where = append(c.Profile, other.Profile...), append(c.Where, other.Where...)
	c.CutOff, c.More = max(c.CutOff, other.CutOff), other.More
}

// Beyond returns a function that reports whether a text says something that none of some texts says.
func Beyond(texts []string) func(text string) bool {
	said := make([]map[string]bool, len(texts))
	for i, text := range texts {
		said[i] = wordsOf(text)
	}
	return func(text string) bool {
		own := wordsOf(text)
		return !slices.ContainsFunc(said, func(words map[string]bool) bool { return covers(words, own) })
	}
}

// wordsOf returns the words of a text that tell something: those of more than three characters.
func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if utf8.RuneCountInString(word) > 3 {
			words[word] = true
		}
	}
	return words
}

// covers reports whether a text with the words said says most of what one with the words own says.
func covers(said, own map[string]bool) bool {
	common := 0
	for word := range own {
		if said[word] {
			common++
		}
	}
	return common > 0 && 5*common >= 3*len(own)
}
