package embedded

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A Query says what to search for.
type Query struct {
	Text        string
	Limit       int    // 0: 10
	Type        string // empty: any; "said": passages of conversations
	Project     string // whose memories come first
	AllProjects bool   // else only the project's and the person's own
	MinScore    float64
}

// Search gives the memories and passages that a person or an agent asks for, best first, as many as there are up to
// Limit.
func (s *Store) Search(ctx context.Context, q Query) ([]Memory, error) {
	if q.Limit <= 0 {
		q.Limit = 10
	}
	asked, ranked, err := s.find(ctx, search{text: q.Text, project: q.Project, all: q.AllProjects,
		kind: q.Type, most: q.Limit})
	if err != nil {
		return nil, sqlite.While("searching memories", err)
	}
	found, err := s.read(ctx, &asked, ranked[:min(len(ranked), q.Limit)])
	if err != nil {
		return nil, sqlite.While("searching memories", err)
	}
	return slices.DeleteFunc(found, func(m Memory) bool { return m.Score < q.MinScore }), nil
}

// find ranks what may answer a text.
func (s *Store) find(ctx context.Context, in search) (query, []*candidate, error) {
	q, err := s.ask(ctx, in.text)
	if err != nil || q.match == "" && !q.dated {
		return q, nil, err
	}
	all, err := s.candidates(ctx, &q, in)
	if err != nil {
		return q, nil, err
	}
	ranked, err := s.supersede(context.WithoutCancel(ctx), &q, s.rank(&q, all, in), in)
	return q, ranked, err
}

// read gives candidates as memories, in their order.
func (s *Store) read(ctx context.Context, q *query, list []*candidate) ([]Memory, error) {
	ids := make([]int64, len(list))
	for i, c := range list {
		ids[i] = c.id
	}
	texts, err := s.texts(ctx, ids)
	if err != nil {
		return nil, err
	}
	found := make([]Memory, 0, len(list))
	said := map[string]bool{}
	for _, c := range list {
		if m, ok := texts[c.id]; ok && !(m.Source == sourceTurn && said[m.Content]) { // a note of what a turn says
			said[m.Content] = true
			m.Score, m.Matched = shown(c.score), q.matched(c)
			found = append(found, m)
		}
	}
	return found, nil
}

// shown is a score as it is shown, 0 to 1.
func shown(score float64) float64 { return max(score, 0) / (max(score, 0) + 6) }

// texts reads passages by their ids.
func (s *Store) texts(ctx context.Context, ids []int64) (map[int64]Memory, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	type row struct {
		id int64
		Memory
	}
	rows, err := sqlite.Collect(ctx, s.db, func(from sqlite.Row) (r row, err error) {
		r.Memory, err = scanMemory(after{from, []any{&r.id}})
		return r, err
	}, `SELECT p.id, `+passageColumns+` FROM json_each(?) j CROSS JOIN passages p ON p.id = j.value `+passageJoins,
		string(list))
	if err != nil {
		return nil, err
	}
	texts := make(map[int64]Memory, len(rows))
	for _, r := range rows {
		texts[r.id] = r.Memory
	}
	return texts, nil
}

// after scans columns before those that its user knows.
type after struct {
	sqlite.Row
	first []any
}

func (a after) Scan(dest ...any) error {
	return a.Row.Scan(append(slices.Clone(a.first), dest...)...)
}

// before scans columns after those.
type before struct {
	sqlite.Row
	last []any
}

func (b before) Scan(dest ...any) error {
	return b.Row.Scan(append(slices.Clone(dest), b.last...)...)
}

// passageColumns are those of a memory, for a passage p that is one (m) or was said in a turn (t) of a session (s).
const passageColumns = `coalesce(m.uid, p.uid), coalesce(m.content, p.content), coalesce(m.type, 'said'), p.project, p.personal, p.origin, coalesce(m.source, 'turn'), coalesce(m.harness, s.harness, ''),
	coalesce(m.key, t.key, ''), coalesce(m.importance, 0.5), coalesce(m.rating, p.rating), coalesce(m.ratings, p.ratings), coalesce(m.tags, ''), coalesce(m.context, ''), p.created, coalesce(m.updated, p.created),
	coalesce(m.position, iif(p.memory IS NULL, p.position, NULL))`

const passageJoins = `LEFT JOIN memories m ON m.id = p.memory LEFT JOIN turns t ON t.id = p.turn LEFT JOIN sessions s ON s.id = t.session`

// recallTime is how long a prompt may wait for the database, unless Options say otherwise.
const recallTime = 100 * time.Millisecond

const mostRecalled = 5 // items for a prompt; more was measured to help no further

// Recall implements memory.Source: what earlier sessions and stored memories say about a prompt, at most five items,
// nothing when nothing is relevant or the database takes more than 100 ms. What the session itself said is not
// recalled to it.
func (s *Store) Recall(ctx context.Context, session memory.Session, prompt string,
	seen []string) (memory.Context, error) {
	begun := s.opts.Now()
	ctx, cancel := context.WithTimeout(ctx, s.opts.Patience)
	defer cancel()
	c := memory.Context{Source: memory.FromEmbedded, Fetched: begun}
	items, err := s.recall(ctx, session, prompt, seen)
	if err != nil {
		if ctx.Err() == nil || context.Cause(ctx) == context.DeadlineExceeded {
			s.opts.Log.Info().Err(err).Str("key", session.Key).Int("bytes",
				len(prompt)).Msg("prompt goes without recall")
		}
		return c, nil
	}
	c.Items = items
	c.Took = s.opts.Now().Sub(begun)
	return c, nil
}
