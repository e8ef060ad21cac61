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
func (w *beside) Fetch(fetch *session.Fetch, who memory.Session, local bool) {
	w.tasks.run("fetch", func(ctx context.Context) {
		var got memory.Context
		var stored json.RawMessage
		err := guard.ErrPanicked // unless it comes to its end
		defer func() {
			w.talk.Tell(func(c *session.Connection) { c.FetchEnded(fetch, got, stored, err) })
		}()
		if b := w.database.now(); local {
			got, err = w.o.Identity(who), nil
			got.Fetched = w.o.Now()
		} else if b == nil {
			err = errNoLedger
		} else {
			got, err = w.start(ctx, b, who)
		}
		if err == nil && !got.Empty() {
			stored = storable(got)
		}
	})
}

// Identity reads the local identity files for a held prompt.
func (w *beside) Identity(p *session.Held, who memory.Session) {
	w.identity(who, func(got memory.Context) {
		w.talk.Tell(func(c *session.Connection) { c.IdentityRead(p, got) })
	})
}

// identity reads the local identity files; a panic leaves nothing of them.
func (w *beside) identity(who memory.Session, read func(memory.Context)) {
	w.tasks.run("identity", func(context.Context) {
		var got memory.Context
		defer func() { read(got) }()
		got = w.o.Identity(who)
	})
}

// start fetches the context of a session.
func (w *beside) start(ctx context.Context, b *Backend, who memory.Session) (memory.Context, error) {
	ctx, cancel := context.WithTimeout(ctx, w.o.FetchLimit)
	defer cancel()
	within(ctx, "folding", foldLimit, b.FoldAll)
	began := time.Now()
	guard.Point("fetch")
	got, err := b.Memory.Start(ctx, who)
	got.Took, got.Fetched = time.Since(began), w.o.Now()
	log := w.o.Log.Info()
	if err != nil {
		log = w.o.Log.Warn().Err(err)
	}
	log.Str("key", who.Key).Str("source", got.Source).Dur("took", got.Took).Msg("context fetched")
	return got, err
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

// Recall searches memory for a held prompt's words, beside the fetch of its session's context.
func (w *beside) Recall(p *session.Held, words string, until time.Time) {
	w.tasks.run("recall", func(ctx context.Context) {
		ctx, cancel := context.WithDeadline(ctx, until)
		defer cancel()
		var found memory.Context
		defer func() { w.talk.Tell(func(c *session.Connection) { c.Recalled(p, found) }) }()
		found = w.recall(ctx, p, words)
	})
}

// recall returns what memory finds for the words of a prompt, without what its session was given before. ctx is bounded
// by the time that the prompt may wait.
func (w *beside) recall(ctx context.Context, p *session.Held, words string) memory.Context {
	b := w.database.ready(ctx)
	if b == nil {
		return memory.Context{}
	}
	var who memory.Session
	var given []string
	if !w.talk.Await(ctx, func(c *session.Connection) (ok bool) { who, given, ok = c.RecallFor(p); return ok }) {
		return memory.Context{}
	}
	within(ctx, "folding", foldLimit, b.FoldAll)
	guard.Point("recall")
	got, err := b.Memory.Recall(ctx, who, words, given)
	if err != nil && !errors.Is(err, memory.ErrUnavailable) {
		w.o.Log.Info().Err(err).Str("key", who.Key).Msg("recalling")
	}
	if got.CutOff > 0 {
		w.o.Log.Info().Str("key", who.Key).Dur("after", got.CutOff).Msg("the search of memory was cut off")
	}
	got.Items = slices.DeleteFunc(got.Items, func(it memory.Item) bool {
		return slices.Contains(given, it.Text) || it.ID != "" && slices.Contains(given, it.ID)
	})
	return got
}
