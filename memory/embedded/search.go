package embedded

import (
	"context"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
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
	asked, ranked, err := s.rank(ctx, search{text: q.Text, project: q.Project, all: q.AllProjects,
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

// How much of the time that is left looking may take, and comparing of what is left then: the rest is for reading what
// is told.
const (
	toLook    = .6
	toCompare = .5
)

// within gives a context that ends when some part of the time that is left has passed.
func within(ctx context.Context, part float64) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Duration(part*float64(time.Until(deadline))))
}

// rank gives what may answer a text, the best first. When time runs out it is what was found until then.
func (s *Store) rank(ctx context.Context, in search) (rank.Query, []*rank.Passage, error) {
	q := rank.Ask(in.text, s.opts.Now())
	looking, cancel := within(ctx, toLook)
	defer cancel()
	all, err := s.look(looking, &q, in)
	if err != nil || len(all) == 0 {
		return q, nil, err
	}
	ranked := q.Rank(all, s.opts.KeepUnused)
	comparing, cancel := within(ctx, toCompare)
	defer cancel()
	compared, err := s.supersede(comparing, &q, ranked, in)
	if err != nil && late(err) {
		return q, ranked, nil
	}
	return q, compared, err
}

// read gives passages as memories, in their order.
func (s *Store) read(ctx context.Context, q *rank.Query, list []*rank.Passage) ([]Memory, error) {
	texts, err := s.texts(ctx, list)
	if err != nil {
		return nil, err
	}
	found := make([]Memory, 0, len(list))
	said := map[string]bool{}
	for _, p := range list {
		if m, ok := texts[p.ID]; ok && !(m.Source == sourceTurn && said[m.Content]) { // a note of what a turn says
			said[m.Content] = true
			m.Score, m.Matched = shown(p.Score), q.Matched(p)
			found = append(found, m)
		}
	}
	return found, nil
}

// shown is a score as it is shown, 0 to 1.
func shown(score float64) float64 { return max(score, 0) / (max(score, 0) + 6) }
