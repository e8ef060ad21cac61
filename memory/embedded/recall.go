package embedded

import (
	"context"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/stated"
)

var _ memory.Source = (*Store)(nil)

// Start implements memory.Source: the identity, and what a person has pinned. It never fails: what cannot be read in
// time is left out.
func (s *Store) Start(ctx context.Context, session memory.Session) (memory.Context, error) {
	begun := s.opts.Now()
	c := s.Identity(session)
	pinned, err := s.pinned(ctx, session.Project)
	if err != nil {
		s.opts.Log.Debug().Err(err).Str("key", session.Key).Msg("start without memories")
	}
	c.Profile = pinned
	c.Fetched, c.Took = begun, s.opts.Now().Sub(begun)
	return c, nil
}

// Recall implements memory.Source: the person's profile, and what earlier sessions and stored memories say about a
// prompt; nothing when nothing is relevant. When ctx's deadline cuts it off it returns what it has by then, and says so
// (CutOff). What the session itself said, or its agent reads by itself, is not recalled to it. It never fails.
func (s *Store) Recall(ctx context.Context, session memory.Session, prompt string,
	seen []string) (memory.Context, error) {
	begun := time.Now()
	c := memory.Context{Source: memory.FromEmbedded, Fetched: s.opts.Now()}
	cut := false
	in := Query{
		Text: prompt, Project: session.Project, keys: [2]string{session.Key, session.ParentKey},
		AllProjects: s.opts.OtherProjects, seen: seen, Limit: maxRecalled, said: true, cut: &cut,
	}
	var err error
	if in.sessions, err = correlation.SessionsOf(ctx, s.db, in.keys); err == nil {
		err = s.recall(ctx, session, in, &c)
	}
	// It reads a few rows by their ids, so it may outlast the deadline. If it fails, the prompt goes without memories.
	c.Items, _ = s.withoutOwnNotes(context.WithoutCancel(ctx), session.Harness, c.Items)
	if cut || err != nil && timedOut(err) {
		c.CutOff = time.Since(begun)
	}
	if err != nil {
		if ctx.Err() == nil || context.Cause(ctx) == context.DeadlineExceeded {
			s.opts.Log.Info().Err(err).Str("key", session.Key).Int("bytes", len(prompt)).
				Msg("prompt goes without recall")
		}
		return c, nil
	}
	c.Took = time.Since(begun)
	return c, nil
}

// recall fills in what a prompt is told: the profile, notes, where the work is, what was said, briefs.
func (s *Store) recall(ctx context.Context, session memory.Session, in Query, c *memory.Context) error {
	lines, err := s.profile(ctx, s.db, in) // first: it is told whatever else there is time for
	if err != nil {
		return err
	}
	pinned, err := s.pinned(ctx, in.Project) // with a daemon nothing else of ours is asked at the start
	if err != nil {
		return err
	}
	pinned = slices.DeleteFunc(pinned, func(it memory.Item) bool { return slices.Contains(in.seen, it.ID) })
	q, ranked, err := s.rank(ctx, in)
	profile, further := chosen(lines, &q, in)
	c.Profile = slices.Concat(pinned, profile)
	switch {
	case stated.AsksMemory(in.Text):
		c.Items, err = s.aboutMemory(ctx, in)
		return err
	case err != nil:
		return err
	}
	for _, it := range slices.Concat(profile, further) {
		in.seen = append(slices.Clip(in.seen), it.ID, it.Text)
	}
	beside, done := in.share(ctx, besideShare)
	defer done()
	notes, err := s.recallNotes(beside, &q, in)
	if unlessLate(err) != nil {
		return err
	}
	if err = s.preferUsed(beside, ranked); unlessLate(err) != nil {
		return err
	}
	if c.Where, err = s.recallWhere(beside, &q, ranked, in.Text, session); unlessLate(err) != nil {
		return err
	}
	if !q.WorthTelling(ranked) {
		ranked = nil
	}
	briefs, err := s.recallBriefs(beside, &q, ranked, in)
	if unlessLate(err) != nil {
		return err
	}
	left := maxTold
	for _, it := range slices.Concat(notes, further, briefs) {
		left -= it.Size()
		in.seen = append(slices.Clip(in.seen), it.ID, it.Text)
	}
	items, err := s.tell(ctx, &q, ranked, in, left)
	c.Items = slices.Concat(notes, items, further, briefs)
	for i := range c.Items[min(1, len(c.Items)):] { // they are told in this order
		c.Items[i+1].Score = min(c.Items[i+1].Score, c.Items[i].Score)
	}
	if err != nil {
		return err
	}
	c.More, err = s.more(beside, in)
	return unlessLate(err)
}
