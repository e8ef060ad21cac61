package embedded

import (
	"context"
	"database/sql"
	"errors"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What is read and written of correlation's tables stands in this file, and in forgetting (forget.go).

// A turn is what there is to learn from.
type turn struct {
	id, session     int64
	key             string
	started         int64 // unix milliseconds
	harness         string
	project         string
	user, assistant string
	again           bool // it was learned from before there were passages
}

const turnColumns = `t.id, t.session, t.key, t.started, s.harness, s.project, t.user, t.assistant, t.learned FROM turns t JOIN sessions s ON s.id = t.session`

func scanTurn(row sqlite.Row) (t turn, err error) {
	return t, row.Scan(&t.id, &t.session, &t.key, &t.started, &t.harness, &t.project, &t.user, &t.assistant, &t.again)
}

// newTurns gives turns that have ended or were written again since they were learned from.
func newTurns(ctx context.Context, q sqlite.Querier) ([]turn, error) {
	return sqlite.Collect(ctx, q, scanTurn,
		`SELECT `+turnColumns+` WHERE t.learned = 0 AND t.ended > 0 ORDER BY t.id LIMIT ?`, batch)
}

// backlog gives turns that an older version learned from, the newest first.
func backlog(ctx context.Context, q sqlite.Querier) ([]turn, error) {
	return sqlite.Collect(ctx, q, scanTurn, `SELECT `+turnColumns+` WHERE t.id <= (SELECT turn FROM passages_backlog)
		AND t.learned = 1 AND t.ended > 0 ORDER BY t.id DESC LIMIT ?`, batch)
}

// markLearned notes that a turn is taken in, unless it has changed or another process was faster.
func markLearned(ctx context.Context, tx *sql.Tx, t turn) (mine bool, err error) {
	var r sql.Result
	if t.again {
		var same bool
		err := tx.QueryRowContext(ctx, `SELECT user = ? AND assistant = ? AND learned = 1 FROM turns WHERE id = ?`,
			t.user, t.assistant, t.id).Scan(&same)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return false, err
		}
		if r, err = tx.ExecContext(ctx, `UPDATE passages_backlog SET turn = ?1 - 1 WHERE turn >= ?1`,
			t.id); err != nil || !same {
			return false, err
		}
	} else if r, err = tx.ExecContext(ctx, `UPDATE turns SET learned = 1 WHERE id = ? AND learned = 0 AND user = ?
		AND assistant = ?`, t.id, t.user, t.assistant); err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n > 0, err
}

// learnAgain makes passages and notes of a turn what it says now.
func (s *Store) learnAgain(ctx context.Context, tx *sql.Tx, id int64) error {
	t, err := scanTurn(tx.QueryRowContext(ctx, `SELECT `+turnColumns+` WHERE t.id = ?`, id))
	if err != nil {
		return err
	}
	return s.teach(ctx, tx, t, readTurn(t))
}

// toldTo gives the ids of what was inserted into a session.
func toldTo(ctx context.Context, q sqlite.Querier, session int64) ([]string, error) {
	return sqlite.Collect(ctx, q, scanText, `SELECT DISTINCT j.value FROM injections i, json_each(i.items) j
		WHERE i.session = ? AND i.outcome <> 'refused' AND j.type = 'text'`, session)
}
