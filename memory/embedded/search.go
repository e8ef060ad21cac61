package embedded

import (
	"context"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A Query says what to search for, and what may be seen.
type Query struct {
	Text        string
	Limit       int     // 0: 10
	Type        string  // empty: any; "said": passages of conversations
	Project     string  // memories of it come first
	AllProjects bool    // search other projects, too; else the project's and the person's own
	MinScore    float64 // 0 to 1

	said     bool      // only what was said in conversations, and not what was stored on purpose
	seen     []string  // ids and texts that are left out
	keys     [2]string // of the session that asks and of the one that it was forked from: what these said is left out
	sessions []int64   // their rows' ids
	cut      *bool     // set if the deadline leaves something out; nil: nobody asks
}

const defaultLimit = 10

// Search returns the memories and passages that match, best first, at most Limit. Unlike Recall it does not judge
// whether they are worth telling.
func (s *Store) Search(ctx context.Context, in Query) ([]Memory, error) {
	if in.Limit <= 0 {
		in.Limit = defaultLimit
	}
	asked, ranked, err := s.rank(ctx, in)
	if err != nil {
		return nil, sqlite.While("searching memories", err)
	}
	ranked = rank.Alternate(func(p *rank.Passage) int64 { return p.ID }, asked.Words(ranked), ranked)
	found, err := s.read(ctx, &asked, ranked[:min(len(ranked), in.Limit)])
	if err != nil {
		return nil, sqlite.While("searching memories", err)
	}
	return descending(slices.DeleteFunc(found, func(m Memory) bool { return m.Score < in.MinScore })), nil
}

// descending lowers scores that are higher than those of what goes before: the order is that of the lists that were
// merged.
func descending(found []Memory) []Memory {
	for i := range found[min(1, len(found)):] {
		found[i+1].Score = min(found[i+1].Score, found[i].Score)
	}
	return found
}

// SearchAll merges what several texts find, at most q.Limit: the best of each, then the second of each, each once.
func (s *Store) SearchAll(ctx context.Context, texts []string, q Query) ([]Memory, error) {
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	lists := make([][]Memory, len(texts))
	for i, text := range texts {
		var err error
		q.Text = text
		if lists[i], err = s.Search(ctx, q); err != nil {
			return nil, err
		}
	}
	merged := rank.Alternate(func(m Memory) string { return m.ID }, lists...)
	return descending(merged[:min(len(merged), q.Limit)]), nil
}

// The shares of the time before the deadline, each of what the ones before have left. Where looking up or reading is
// cut off, what was got is gone on with; what remains at last is for reading what is told.
const (
	lookShare    = .5 // which passages have the words
	findShare    = .8 // which of these may be told: without that nothing is
	readShare    = .5
	compareShare = .5
	besideShare  = .6 // rules and digests, without which passages are told all the same
)

// share returns a context that ends after a share of the time before ctx's deadline. done, which is called when the
// work is, notes whether that was too short.
func (in Query) share(ctx context.Context, part float64) (limited context.Context, done func()) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(part*float64(time.Until(deadline))))
	return limited, func() {
		if in.cut != nil && limited.Err() != nil {
			*in.cut = true
		}
		cancel()
	}
}

// rank returns the passages that may answer a text, the best first. When the deadline passes it returns what was found
// until then.
func (s *Store) rank(ctx context.Context, in Query) (rank.Query, []*rank.Passage, error) {
	q := rank.Ask(in.Text, s.opts.Now())
	all, err := s.candidates(ctx, &q, in)
	if err != nil || len(all) == 0 {
		return q, nil, err
	}
	ranked := q.Rank(all)
	comparing, done := in.share(ctx, compareShare)
	defer done()
	if err := s.supersede(comparing, &q, ranked); err != nil && !timedOut(err) {
		return q, nil, err
	}
	return q, ranked, nil
}

// read returns passages as memories, in their order, without memories that repeat a passage.
func (s *Store) read(ctx context.Context, q *rank.Query, list []*rank.Passage) ([]Memory, error) {
	ids := idsOf(list)
	for _, p := range list {
		if p.By != nil { // it replaces p
			ids = append(ids, p.By.ID)
		}
	}
	texts, err := s.texts(ctx, ids)
	if err != nil {
		return nil, err
	}
	found := make([]Memory, 0, len(list))
	said := map[string]bool{}
	for _, p := range list {
		m, ok := texts[p.ID]
		repeats := m.Source == sourceTurn && said[m.Content] // a note, whose passage is there
		if ok && !repeats {
			said[m.Content] = true
			m.Score, m.Matched = shownScore(p.Score), q.Matched(p)
			if p.By != nil {
				m.ReplacedBy = texts[p.By.ID].ID
			}
			found = append(found, m)
		}
	}
	return found, nil
}

// supersede puts newer passages before those whose facts they replace.
func (s *Store) supersede(ctx context.Context, q *rank.Query, ranked []*rank.Passage) error {
	changes := rank.Changes(ranked)
	if len(changes) == 0 {
		return nil
	}
	pieces, err := s.pieces(ctx, idsOf(changes))
	texts := make(map[int64]string, len(pieces))
	for id, m := range pieces {
		texts[id] = m.Content
	}
	if err == nil {
		q.Supersede(ranked, changes, texts)
	}
	return err
}

// Replaced returns the older memories and passages about the same thing that are no longer true since m, at most five.
func (s *Store) Replaced(ctx context.Context, m Memory) ([]Memory, error) {
	const maxLater, most = 40, 5
	if m.Source == sourceNotes { // it says so itself
		all, err := sqlite.Collect(ctx, s.db, scanMemory, `SELECT `+memoryColumns+` FROM memories m
			WHERE m.replaced_by = ? AND m.replaced_by <> '' ORDER BY m.id`, m.ID)
		return all, sqlite.While("reading what was replaced", err)
	}
	if !passage.TellsChange(m.Content) {
		return nil, nil
	}
	q, ranked, err := s.rank(ctx, Query{Text: m.Content, Project: m.Project, Limit: maxLater})
	if err != nil {
		return nil, err
	}
	ranked = ranked[:min(len(ranked), maxLater)]
	found, err := s.texts(ctx, idsOf(ranked))
	if err != nil {
		return nil, err
	}
	by := slices.IndexFunc(ranked, func(p *rank.Passage) bool { return found[p.ID].ID == m.ID })
	if by < 0 {
		return nil, nil
	}
	var replaced []Memory
	for _, p := range q.Replaced(ranked[by], m.Content, ranked) {
		replaced = append(replaced, found[p.ID])
	}
	return replaced[:min(len(replaced), most)], nil
}
