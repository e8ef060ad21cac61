package embedded

import (
	"context"
	"database/sql"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/pace"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// By itself the full-text index overwrites each word of a passage that goes, a page for each (sqlite.org/fts5.html,
// "secure-delete"): 38 ms for a session. Where many go they are marked instead, and the index is merged once behind
// that, which leaves out what is marked. A row says that this is still to be done, for whoever comes after a kill.

const (
	mergePages = 64                    // written by a step
	mergeTime  = 20 * time.Millisecond // after which a transaction begins no further step
)

// LeaveWords lets the index keep the words of what is removed from now on, until EraseWords.
func (s *Store) LeaveWords(ctx context.Context) error {
	return sqlite.Write(ctx, s.db, "preparing to remove much", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO noted (kind, name, at) VALUES ('erase', 'words', 0);
			INSERT INTO passages_fts (passages_fts, rank) VALUES ('secure-delete', 0)`)
		return err
	})
}

// EraseWords takes the words that LeaveWords has left out of the index, in short transactions.
func (s *Store) EraseWords(ctx context.Context) error {
	const doing = "erasing words from the index"
	for step := -mergePages; ; step = mergePages { // a negative one puts all parts of the index on one level
		began, left := time.Now(), false
		if err := sqlite.Write(ctx, s.db, doing, func(tx *sql.Tx) (err error) {
			if left, err = sqlite.One[bool](tx.QueryRowContext(ctx,
				`SELECT EXISTS (SELECT 1 FROM noted WHERE kind = 'erase')`)); err != nil || !left {
				return err
			}
			// first, so that what others remove meanwhile is overwritten
			if _, err = tx.ExecContext(ctx,
				`INSERT INTO passages_fts (passages_fts, rank) VALUES ('secure-delete', 1)`); err != nil {
				return err
			}
			for ; left && time.Since(began) < mergeTime; step = mergePages {
				if left, err = merge(ctx, tx, step); err != nil {
					return err
				}
			}
			if !left {
				_, err = tx.ExecContext(ctx, `DELETE FROM noted WHERE kind = 'erase'`)
			}
			return err
		}); err != nil || !left {
			return err
		}
		pace.Pause(ctx, began)
	}
}

// merge does a step, and reports whether there is more to merge.
func merge(ctx context.Context, tx *sql.Tx, pages int) (more bool, err error) {
	const changes = `SELECT total_changes()`
	before, err := sqlite.One[int64](tx.QueryRowContext(ctx, changes))
	if err != nil {
		return false, err
	}
	if _, err = tx.ExecContext(ctx, `INSERT INTO passages_fts (passages_fts, rank) VALUES ('merge', ?)`,
		pages); err != nil {
		return false, err
	}
	after, err := sqlite.One[int64](tx.QueryRowContext(ctx, changes))
	return after-before >= 2, err // the statement counts as one
}
