package embedded

import (
	"context"
	"encoding/json"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What a page shows of memories beside their list.

// Told names an item that a session was told.
type Told struct {
	Session int64
	Item    string
}

// UsedIn returns of some sessions what they were told and an answer used.
func (s *Store) UsedIn(ctx context.Context, sessions []int64) (map[Told]bool, error) {
	list, err := json.Marshal(sessions)
	if err != nil {
		return nil, err
	}
	used := map[Told]bool{}
	_, err = sqlite.Collect(ctx, s.db, func(row sqlite.Row) (_ struct{}, err error) {
		var t Told
		err = row.Scan(&t.Session, &t.Item)
		used[t] = true
		return struct{}{}, err
	}, `SELECT session, item FROM passages_told WHERE used AND session IN (SELECT value FROM json_each(?))`,
		string(list))
	return used, sqlite.While("reading what was used", err)
}

// Beginnings returns the beginnings of memories, and of passages that sessions were told, by id, as far as they are
// still known.
func (s *Store) Beginnings(ctx context.Context, ids []string, characters int) (map[string]string, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	_, err = sqlite.Collect(ctx, s.db, func(row sqlite.Row) (_ struct{}, err error) {
		var id, text string
		err = row.Scan(&id, &text)
		texts[id] = text
		return struct{}{}, err
	}, `WITH items AS MATERIALIZED (SELECT DISTINCT value FROM json_each(?1))
		SELECT uid, substr(content, 1, ?2) FROM items JOIN memories ON uid = value UNION ALL
		SELECT uid, substr(content, 1, ?2) FROM items JOIN passages ON uid = value WHERE given > 0 AND memory IS NULL`,
		string(list), characters)
	return texts, sqlite.While("reading memories", err)
}

// Count returns how many memories there are, with the passages that sessions were told.
func (s *Store) Count(ctx context.Context) (n int, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM memories WHERE type <> 'wish')
		+ (SELECT count(*) FROM passages
		WHERE given > 0 AND memory IS NULL)`).Scan(&n)
	return n, sqlite.While("counting memories", err)
}

// Pulse returns a text that differs once memories, or what was told of them, have changed.
func (s *Store) Pulse(ctx context.Context) (pulse string, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT
		(SELECT count(*) || ' ' || coalesce(max(id), 0) || ' ' || coalesce(max(updated), 0) FROM memories) || ' ' ||
		(SELECT count(*) || ' ' || coalesce(sum(used), 0) FROM passages_told)`).Scan(&pulse)
	return pulse, sqlite.While("looking for what is new", err)
}
