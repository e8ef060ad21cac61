package embedded

import (
	"context"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// texts returns passages as memories, by their ids.
func (s *Store) texts(ctx context.Context, passages []int64) (map[int64]Memory, error) {
	texts := make(map[int64]Memory, len(passages))
	err := sqlite.Each(ctx, s.db, func(row sqlite.Row) error {
		var id int64
		m, err := scanMemoryAnd(row, &id)
		texts[id] = m
		return err
	}, `SELECT `+passageColumns+`, p.id FROM json_each(?) j CROSS JOIN passages p ON p.id = j.value `+passageJoins,
		sqlite.List(passages))
	return texts, err
}

func idsOf(passages []*rank.Passage) []int64 {
	ids := make([]int64, len(passages))
	for i, p := range passages {
		ids[i] = p.ID
	}
	return ids
}

// pieces reads passages with the fields that are told of them, by their ids: fewer than texts, and faster.
func (s *Store) pieces(ctx context.Context, ids []int64) (map[int64]Memory, error) {
	texts := make(map[int64]Memory, len(ids))
	err := sqlite.Each(ctx, s.db, func(row sqlite.Row) error {
		var id, created int64
		var m Memory
		err := row.Scan(&id, &m.ID, &m.Content, &m.Who, &m.Project, &created)
		m.Origin = originOf(m.Who)
		m.Created = time.UnixMilli(created).UTC()
		texts[id] = m
		return err
	}, `SELECT p.id, coalesce(m.uid, p.uid), coalesce(m.content, p.content), p.who, p.project, p.created
		FROM json_each(?) j CROSS JOIN passages p ON p.id = j.value LEFT JOIN memories m ON m.id = p.memory`,
		sqlite.List(ids))
	return texts, err
}

// shownScore maps a rank's score to the 0 to 1 that people and agents are shown.
func shownScore(score float64) float64 { return max(score, 0) / (max(score, 0) + 6) }
