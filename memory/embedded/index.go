package embedded

import (
	"context"
	"database/sql"
	"strings"
)

// refresh brings the full-text index up to date with the rows that changed, in the transaction that changed them. It does nothing without FTS5.
func (s *Store) refresh(ctx context.Context, tx *sql.Tx) error {
	if ok, err := s.searchable(ctx, tx); err != nil || !ok {
		return err
	}
	type entry struct {
		id                     int64
		content, context, tags string
		gone                   bool
	}
	stale, err := collect(ctx, tx, func(row scanner) (e entry, err error) {
		return e, row.Scan(&e.id, &e.content, &e.context, &e.tags, &e.gone)
	}, `SELECT memory, coalesce(content, ''), coalesce(context, ''), coalesce(tags, ''), id IS NULL FROM memories_stale LEFT JOIN memories ON id = memory`)
	if err != nil || len(stale) == 0 {
		return err
	}
	for _, e := range stale {
		if _, err := tx.ExecContext(ctx, `DELETE FROM memories_fts WHERE rowid = ?`, e.id); err != nil {
			return err
		}
		if e.gone {
			continue
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO memories_fts (rowid, content, context) VALUES (?, ?, ?)`,
			e.id, strings.Join(terms(e.content), " "), strings.Join(terms(e.context+" "+e.tags), " "))
		if err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM memories_stale`)
	return err
}
