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

// A fetcher gets context from memory, beside the conversation.
type fetcher struct {
	*env
	database *database
}

// beginLocked begins the fetch that a session needs, if any, and if the backend is open. The table's lock is held.
func (f *fetcher) beginLocked(c *session.Connection, s *session.Session) {
	b := f.database.now()
	if b == nil {
		return
	}
	fetch, identity := c.BeginFetch(s)
	if fetch == nil {
		return
	}
	who := s.Who
	fetch.Err = guard.ErrPanicked // unless it comes to its end
	f.tasks.run("fetch", func(ctx context.Context) {
		defer close(fetch.Done)
		if identity {
			fetch.Got, fetch.Err = b.Memory.Identity(who), nil
			fetch.Got.Fetched = f.o.Now()
			f.keep(fetch)
			return
		}
		f.start(ctx, b, fetch, who)
	})
}

// start fetches the context of a session.
func (f *fetcher) start(ctx context.Context, b *Backend, fetch *session.Fetch, who memory.Session) {
	ctx, cancel := context.WithTimeout(ctx, f.o.FetchLimit)
	defer cancel()
	f.database.catchUp(ctx, b)
	began := time.Now()
	guard.Point("fetch")
	fetch.Got, fetch.Err = b.Memory.Start(ctx, who)
	fetch.Got.Took, fetch.Got.Fetched = time.Since(began), f.o.Now()
	if fetch.Got.KeySpent || errors.Is(fetch.Err, memory.ErrKeySpent) {
		f.table.Update(func(c *session.Connection) { c.GiveUpKey(fetch) })
	}
	log := f.o.Log.Info()
	if fetch.Err != nil {
		log = f.o.Log.Warn().Err(fetch.Err)
	}
	log.Str("key", who.Key).Str("source", fetch.Got.Source).Dur("took", fetch.Got.Took).Msg("context fetched")
	if fetch.Err == nil {
		f.keep(fetch)
	}
}

// keep stores what was fetched, for the next process to use if this one does not.
func (f *fetcher) keep(fetch *session.Fetch) {
	if fetch.Got.Empty() {
		return
	}
	if payload, ok := storable(fetch.Got); ok {
		f.table.Update(func(c *session.Connection) { c.StoreContext(fetch, payload) })
	}
}

// storable returns the JSON of a context with secrets taken out, as a block would have them. ok is false if it cannot
// be encoded.
func storable(c memory.Context) (payload []byte, ok bool) {
	for _, text := range []*string{&c.Identity, &c.ToolNotes, &c.Notes, &c.Mixed} {
		*text = privacy.Clean(*text, nil, false)
	}
	c.Items = slices.Clone(c.Items)
	for i := range c.Items {
		c.Items[i].Text = privacy.Clean(c.Items[i].Text, nil, false)
	}
	payload, err := json.Marshal(c)
	return payload, err == nil // it fails for a date that JSON cannot hold, which a retry would not help
}

// recall returns what memory finds for the text of a prompt, without what the session was given before. ctx is bounded
// by the time that the prompt may wait.
func (f *fetcher) recall(ctx context.Context, s *session.Session, words string) memory.Context {
	b := f.database.ready(ctx)
	if b == nil {
		return memory.Context{}
	}
	var ready chan struct{}
	f.table.Update(func(*session.Connection) { ready = s.Ready })
	if await(ctx, ready); ctx.Err() != nil {
		return memory.Context{}
	}
	f.database.catchUp(ctx, b)
	var who memory.Session
	var seen []string
	f.table.Update(func(*session.Connection) { who, seen = s.Who, s.SeenItems() })
	guard.Point("recall")
	got, err := b.Memory.Recall(ctx, who, words, seen)
	if err != nil && !errors.Is(err, memory.ErrUnavailable) {
		f.o.Log.Info().Err(err).Str("key", who.Key).Msg("recalling")
	}
	got.Items = slices.DeleteFunc(got.Items, func(it memory.Item) bool {
		return slices.Contains(seen, it.Text) || it.ID != "" && slices.Contains(seen, it.ID)
	})
	return got
}
