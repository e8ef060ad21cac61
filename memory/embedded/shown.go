package embedded

import (
	"context"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What a page shows of memories beside their list.

// Beginnings returns the beginnings of memories, and of passages that sessions were told, by id, as far as they are
// still known.
func (s *Store) Beginnings(ctx context.Context, ids []string, characters int) (map[string]string, error) {
	texts, err := sqlite.Pairs[string, string](ctx, s.db,
		`WITH items AS MATERIALIZED (SELECT DISTINCT value FROM json_each(?1))
		SELECT uid, substr(content, 1, ?2) FROM items JOIN memories ON uid = value UNION ALL
		SELECT uid, substr(content, 1, ?2) FROM items CROSS JOIN passages
			ON uid = value AND uid IS NOT NULL WHERE memory IS NULL`,
		sqlite.List(ids), characters)
	return texts, sqlite.While("reading memories", err)
}

// ToldPassages returns those passages of conversations that have one of some ids, the newest first, at most most.
func (s *Store) ToldPassages(ctx context.Context, ids []string, most int) ([]Memory, error) {
	all, err := sqlite.Collect(ctx, s.db, scanMemory, `SELECT `+passageColumns+` FROM passages p `+passageJoins+`
		WHERE p.uid IN (SELECT value FROM json_each(?)) AND p.memory IS NULL ORDER BY p.created DESC, `+
		`p.id DESC LIMIT ?`,
		sqlite.List(ids), most)
	return all, sqlite.While("listing what was told", err)
}

// Count returns how many memories there are.
func (s *Store) Count(ctx context.Context) (n int, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT count(*) FROM memories`).Scan(&n)
	return n, sqlite.While("counting memories", err)
}

// Pulse returns a text that differs once memories have changed.
func (s *Store) Pulse(ctx context.Context) (pulse string, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT count(*) || ' ' || coalesce(max(id), 0) || ' ' || coalesce(max(updated), 0)
		FROM memories`).Scan(&pulse)
	return pulse, sqlite.While("looking for what is new", err)
}
