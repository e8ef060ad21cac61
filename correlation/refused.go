package correlation

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Refuse keeps a line that the database will never take, and why. session is the number of its session, 0 for none, or
// turn that of its turn.
func (b *Batch) Refuse(line []byte, session, turn int, reason string) error {
	row, err := b.openedSession(session)
	if errors.Is(err, ErrNotFound) {
		_, row, err = b.turn(turn)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return b.exec(`INSERT INTO refused_events (at, process, session, line, reason) VALUES (?, ?, nullif(?, 0), ?, ?)`,
		b.now(), b.process, row, string(line), reason)
}

// A Refusal sums up the lines that the database has refused.
type Refusal struct {
	Lines  int
	Last   time.Time
	Reason string // of the last
}

// Refused returns what was refused and is still kept.
func (s *Store) Refused(ctx context.Context) (r Refusal, err error) {
	var last int64
	err = s.db.QueryRowContext(ctx, `SELECT count(*), coalesce(max(at), 0), coalesce((SELECT reason
		FROM refused_events ORDER BY id DESC LIMIT 1), '') FROM refused_events`).Scan(&r.Lines, &last, &r.Reason)
	r.Last = sqlite.Unstamp(last)
	return r, sqlite.While("looking for refused lines", err)
}

// EmptyRefused removes the text of what was refused: a person had something forgotten that it may repeat.
func (s *Store) EmptyRefused(ctx context.Context) error {
	return s.write(ctx, "emptying refused lines", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE refused_events SET line = '' WHERE line <> ''`)
		return err
	})
}

// deleteRefused deletes lines that may be of one of the sessions, a JSON list of rows. Those that name one go with it.
func deleteRefused(ctx context.Context, tx *sql.Tx, sessions string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM refused_events WHERE session IS NULL AND process IN (
		SELECT process FROM turns WHERE session IN (SELECT value FROM json_each(?)))`, sessions)
	return err
}
