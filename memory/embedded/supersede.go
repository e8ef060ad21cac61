package embedded

import (
	"context"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
)

// supersede puts newer passages before those whose facts they replace.
func (s *Store) supersede(ctx context.Context, q *rank.Query, ranked []*rank.Passage) error {
	list, wanted := rank.Comparable(ranked)
	if len(list) == 0 {
		return nil
	}
	texts, err := s.contents(ctx, wanted)
	if err != nil {
		return err
	}
	q.Supersede(ranked, list, texts)
	return nil
}

// Replaced returns the older memories and passages about the same thing that are no longer true since m, at most five.
func (s *Store) Replaced(ctx context.Context, m Memory) ([]Memory, error) {
	const maxLater, most = 40, 5
	if !passage.TellsChange(m.Content) {
		return nil, nil
	}
	q, ranked, err := s.rank(ctx, search{text: m.Content, project: m.Project, most: maxLater})
	if err != nil {
		return nil, err
	}
	ranked = ranked[:min(len(ranked), maxLater)]
	found, err := s.texts(ctx, ranked)
	if err != nil {
		return nil, err
	}
	by := slices.IndexFunc(ranked, func(p *rank.Passage) bool { return found[p.ID].ID == m.ID })
	if by < 0 {
		return nil, nil
	}
	contents := make(map[int64]string, len(found))
	for id, m := range found {
		contents[id] = m.Content
	}
	var replaced []Memory
	for _, p := range q.Replaced(ranked[by], ranked, contents) {
		replaced = append(replaced, found[p.ID])
	}
	return replaced[:min(len(replaced), most)], nil
}
