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

// begin runs a fetch beside the conversation.
func (f *fetcher) begin(job session.FetchJob) {
	f.tasks.run("fetch", func(ctx context.Context) {
		ended := session.FetchEnded{Fetch: job.Fetch, Err: guard.ErrPanicked} // unless it comes to its end
		defer func() { f.talk.see(ended) }()
		b := f.database.now()
		if b == nil {
			ended.Err = errNoLedger
			return
		}
		if job.Local {
			ended.Got, ended.Err = b.Memory.Identity(job.Who), nil
			ended.Got.Fetched = f.o.Now()
		} else {
			ended.Got, ended.Err = f.start(ctx, b, job.Who)
		}
		if ended.Err == nil && !ended.Got.Empty() {
			ended.Stored = storable(ended.Got)
		}
	})
}

// start fetches the context of a session.
func (f *fetcher) start(ctx context.Context, b *Backend, who memory.Session) (memory.Context, error) {
	ctx, cancel := context.WithTimeout(ctx, f.o.FetchLimit)
	defer cancel()
	f.database.foldAll(ctx, b)
	began := time.Now()
	guard.Point("fetch")
	got, err := b.Memory.Start(ctx, who)
	got.Took, got.Fetched = time.Since(began), f.o.Now()
	log := f.o.Log.Info()
	if err != nil {
		log = f.o.Log.Warn().Err(err)
	}
	log.Str("key", who.Key).Str("source", got.Source).Dur("took", got.Took).Msg("context fetched")
	return got, err
}

// storable returns the JSON of a context with secrets taken out, as a block would have them; nil if it cannot be
// encoded, as for a date that JSON cannot hold, which a retry would not help.
func storable(c memory.Context) json.RawMessage {
	for _, text := range []*string{&c.Identity, &c.ToolNotes, &c.Notes, &c.Mixed} {
		*text = privacy.Clean(*text, nil, false)
	}
	c.Items = slices.Clone(c.Items)
	for i := range c.Items {
		c.Items[i].Text = privacy.Clean(c.Items[i].Text, nil, false)
	}
	payload, err := json.Marshal(c)
	if err != nil {
		return nil
	}
	return payload
}

// beginRecall searches memory for a held prompt's words, beside the fetch of its session's context.
func (f *fetcher) beginRecall(job session.RecallJob, words string) {
	f.tasks.run("recall", func(ctx context.Context) {
		ctx, cancel := context.WithDeadline(ctx, job.Until)
		defer cancel()
		recalled := session.Recalled{Prompt: job.Prompt}
		defer func() { f.talk.see(recalled) }()
		recalled.Found = f.recall(ctx, job.Prompt, words)
	})
}

// recall returns what memory finds for the words of a prompt, without what its session was given before. ctx is bounded
// by the time that the prompt may wait.
func (f *fetcher) recall(ctx context.Context, p *session.Held, words string) memory.Context {
	b := f.database.ready(ctx)
	if b == nil {
		return memory.Context{}
	}
	of := f.talk.await(ctx, func(bool, bool) session.Seen { return session.RecallBegins{Prompt: p} })
	if ctx.Err() != nil {
		return memory.Context{}
	}
	f.database.foldAll(ctx, b)
	guard.Point("recall")
	got, err := b.Memory.Recall(ctx, of.Who, words, of.Seen)
	if err != nil && !errors.Is(err, memory.ErrUnavailable) {
		f.o.Log.Info().Err(err).Str("key", of.Who.Key).Msg("recalling")
	}
	got.Items = slices.DeleteFunc(got.Items, func(it memory.Item) bool {
		return slices.Contains(of.Seen, it.Text) || it.ID != "" && slices.Contains(of.Seen, it.ID)
	})
	return got
}
