package embedded

import (
	"context"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
)

// supersede puts newer passages before those whose facts they replace.
func (s *Store) supersede(ctx context.Context, q *rank.Query, ranked []*rank.Passage,
	in search) ([]*rank.Passage, error) {
	ranked, err := s.addChanges(ctx, q, ranked, in)
	if err != nil {
		return nil, err
	}
	list, wanted := rank.Comparable(ranked)
	if len(list) == 0 {
		return ranked, nil
	}
	texts, err := s.contents(ctx, wanted)
	if err != nil {
		return nil, err
	}
	q.Supersede(ranked, list, texts)
	return ranked, nil
}

// addChanges adds passages that say that something changed about the things that the best passages name, even where
// they share no word with the question.
func (s *Store) addChanges(ctx context.Context, q *rank.Query, ranked []*rank.Passage,
	in search) ([]*rank.Passage, error) {
	best := ranked[:min(len(ranked), maxNaming)]
	texts, err := s.contents(ctx, best)
	if err != nil {
		return nil, err
	}
	var named []language.Term
	for _, p := range best {
		for _, t := range language.Ask(texts[p.ID]).Terms {
			if (t.Name || t.Identifier) && !t.Common && len(named) < maxNames {
				named = append(named, language.Term{Forms: t.Forms[:1]})
			}
		}
	}
	lists, err := s.entries(ctx, termQueries(named), maxNamed)
	if err != nil {
		return nil, err
	}
	scores := map[int64]float64{} // a rare name counts more than a common one
	for _, list := range lists {
		if len(list) < maxNamed {
			for _, id := range list {
				scores[id] += 1 / float64(len(list))
			}
		}
	}
	for _, p := range ranked {
		delete(scores, p.ID)
	}
	found, err := s.visible(ctx, in, topScored(scores, maxNamed), maxChanges, passage.Changes)
	if err != nil || len(found) == 0 {
		return ranked, err
	}
	more, err := s.rows(ctx, q, found, 0, in)
	return append(ranked, more...), err
}
