package embedded

import (
	"context"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

var _ memory.Source = (*Store)(nil)

// Start implements memory.Source: the identity, and what the project's earlier sessions decided. It never fails: what
// cannot be read in time is left out.
func (s *Store) Start(ctx context.Context, session memory.Session) (memory.Context, error) {
	begun := s.opts.Now()
	c := s.Identity(session)
	items, err := s.startItems(ctx, session)
	if err != nil {
		s.opts.Log.Debug().Err(err).Str("key", session.Key).Msg("start without memories")
	}
	c.Items = items
	c.Fetched, c.Took = begun, s.opts.Now().Sub(begun)
	return c, nil
}

// Recall implements memory.Source: what earlier sessions and stored memories say about a prompt, at most maxRecalled
// items; nothing when nothing is relevant. When ctx's deadline cuts it off it returns what it has by then, and says so
// (CutOff). What the session itself said is not recalled to it. It never fails.
func (s *Store) Recall(ctx context.Context, session memory.Session, prompt string,
	seen []string) (memory.Context, error) {
	begun := time.Now()
	c := memory.Context{Source: memory.FromEmbedded, Fetched: s.opts.Now()}
	cut := false
	items, err := s.recall(ctx, session, prompt, seen, &cut)
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
	c.Items = items
	c.Took = time.Since(begun)
	return c, nil
}

// recall sets cut if it leaves something out for want of time.
func (s *Store) recall(ctx context.Context, session memory.Session, prompt string, seen []string,
	cut *bool) ([]memory.Item, error) {
	in := search{
		text: prompt, project: session.Project, keys: [2]string{session.Key, session.ParentKey},
		all: s.opts.OtherProjects, seen: seen, most: maxRecalled, cut: cut,
	}
	q, ranked, err := s.rank(ctx, in)
	if err != nil {
		return nil, err
	}
	worth := q.WorthTelling(ranked)
	if worth {
		if err := s.forgetElsewhere(ctx, &q, ranked, in); err != nil && !timedOut(err) {
			return nil, err
		}
		worth = q.WorthTelling(ranked)
	}
	if !worth {
		ranked = nil
	}
	beside, done := in.share(ctx, besideShare)
	defer done()
	digests, err := s.recallDigests(beside, &q, ranked, in)
	if err != nil && !timedOut(err) {
		return nil, err
	}
	rules, err := s.recallRules(beside, &q, ranked, in)
	if err != nil && !timedOut(err) {
		return nil, err
	}
	others := ownProject(slices.Concat(rules, digests), session.Project)
	if !worth {
		return others, nil
	}
	left := maxTold
	for _, it := range others {
		left -= it.Size()
		in.seen = append(slices.Clip(in.seen), it.Text)
	}
	items, err := s.tell(ctx, &q, q.Words(ranked), ranked, in, left)
	if err != nil {
		return nil, err
	}
	items = append(items, others...)
	for i := range items[min(1, len(items)):] { // their order is that in which they are told
		items[i+1].Score = min(items[i+1].Score, items[i].Score)
	}
	return items, nil
}

// forgetElsewhere takes words of a prompt for unused ones that stand only in what the session may not see.
func (s *Store) forgetElsewhere(ctx context.Context, q *rank.Query, ranked []*rank.Passage, in search) error {
	if in.all {
		return nil
	}
	unmet := q.Unmet(ranked)
	here, err := s.entries(ctx, within(in.project), unmet, 1)
	for i, ids := range here {
		if len(ids) == 0 {
			q.Forget(unmet[i])
		}
	}
	return err
}

// maxPinned is how many items a session's start has.
const maxPinned = 8

// startItems returns what a person has pinned: all that a session is told whatever its prompt, the newest first.
func (s *Store) startItems(ctx context.Context, session memory.Session) ([]memory.Item, error) {
	return sqlite.Collect(ctx, s.db, func(row sqlite.Row) (memory.Item, error) {
		m, err := scanMemory(row)
		return m.item(), err
	}, s.across(`SELECT `+memoryColumns+` FROM memories m WHERE m.source = ? AND `+
		`(m.project = ? OR m.project = '' OR m.personal)
		ORDER BY m.created DESC, m.id DESC LIMIT ?`), Pinned, session.Project, maxPinned)
}
