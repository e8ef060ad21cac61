package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// How context is got from memory, beside the conversation.

// Fetch runs a fetch.
func (e *env) Fetch(fetch *session.Fetch, who memory.Session, local bool) {
	var got memory.Context
	ended := func(err error) {
		var stored json.RawMessage
		if err == nil && !got.Empty() {
			guard.Run("fetch", func() { stored = storable(got) })
		}
		e.talk.Tell(func(c *session.Connection) { c.FetchEnded(fetch, got, stored, err) })
	}
	if local {
		e.identity(who, func(files memory.Context, err error) {
			got, got.Fetched = files, e.o.Now()
			ended(err)
		})
		return
	}
	ctx, cancel := context.WithTimeout(e.ctx, e.o.FetchLimit)
	e.database.begin(ctx, "fetch", func(b *Backend) (err error) {
		within(ctx, "folding", e.o.HoldLimit/foldShare, b.FoldAll)
		began := time.Now()
		guard.Point("fetch")
		got, err = b.Memory.Start(ctx, who)
		got.Took, got.Fetched = time.Since(began), e.o.Now()
		log := e.o.Log.Info()
		if err != nil {
			log = e.o.Log.Warn().Err(err)
		}
		log.Str("key", who.Key).Str("source", got.Source).Dur("took", got.Took).Msg("context fetched")
		return err
	}, func(err error) {
		cancel()
		ended(err)
	})
}

// Identity reads the local identity files for a held prompt.
func (e *env) Identity(p *session.Held, who memory.Session) {
	e.identity(who, func(got memory.Context, _ error) {
		e.talk.Tell(func(*session.Connection) { p.Files = &got })
	})
}

// identity reads the local identity files; a panic leaves nothing of them.
func (e *env) identity(who memory.Session, read func(memory.Context, error)) {
	e.tasks.run("identity", func() {
		var got memory.Context
		err := guard.Try("identity", func() error {
			got = e.o.Identity(who)
			return nil
		})
		read(got, err)
	})
}

// storable returns the JSON of a context with secrets taken out, as a block would have them; nil if it cannot be
// encoded, as for a date that JSON cannot hold, which a retry would not help.
func storable(c memory.Context) json.RawMessage {
	for _, text := range []*string{&c.Identity, &c.ToolNotes, &c.Notes, &c.Mixed} {
		*text = privacy.Clean(*text, nil)
	}
	for _, items := range []*[]memory.Item{&c.Items, &c.Profile} {
		*items = slices.Clone(*items)
		for i := range *items {
			(*items)[i].Text = privacy.Clean((*items)[i].Text, nil)
		}
	}
	payload, err := json.Marshal(c)
	if err != nil {
		return nil
	}
	return payload
}

// Recall searches memory for a held prompt's words, beside the fetch of its session's context. What the session was
// given before is left out.
func (e *env) Recall(p *session.Held, who memory.Session, given []string) {
	var found memory.Context
	words := p.Words
	ctx, cancel := context.WithDeadline(e.ctx, p.Until)
	e.database.begin(ctx, "recall", func(b *Backend) error {
		within(ctx, "folding", e.o.HoldLimit/foldShare, b.FoldAll)
		guard.Point("recall")
		got, err := b.Memory.Recall(ctx, who, words, given)
		if err != nil && !errors.Is(err, memory.ErrUnavailable) {
			e.o.Log.Info().Err(err).Str("key", who.Key).Msg("recalling")
		}
		if got.CutOff > 0 {
			e.o.Log.Info().Str("key", who.Key).Dur("after", got.CutOff).Msg("the search of memory was cut off")
		}
		got.Items = slices.DeleteFunc(got.Items, func(it memory.Item) bool {
			return slices.Contains(given, it.Text) || it.ID != "" && slices.Contains(given, it.ID)
		})
		found = got
		return nil
	}, func(error) {
		cancel()
		e.talk.Tell(func(*session.Connection) { p.Found = &found })
	})
}
