package correlation

import (
	"context"
	"database/sql"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Due returns when the next open debt is due (the zero time if none is open) and how many are open.
func (s Debts) Due(ctx context.Context) (next time.Time, open int, err error) {
	var due int64
	err = s.db.QueryRowContext(ctx, `SELECT coalesce(min(due), 0), count(*) FROM debts
		WHERE done = 0`).Scan(&due, &open)
	return sqlite.Unstamp(due), open, sqlite.While("reading what is owed", err)
}

// TakeUp returns a debt that is due, for its delivery, or ErrNothingDue. A post that a dead worker left without an
// answer is repeated once. A hook waits until the daemon's first attempt with the same key is over, and both wait for a
// process that has said that it ends (Batch.End) and still lives.
func (s Debts) TakeUp(ctx context.Context) (d Debt, err error) {
	err = s.write(ctx, "taking up a debt", func(tx *sql.Tx) error {
		now := s.now()
		due, err := sqlite.Collect(ctx, tx, scanDebt, `SELECT `+debtColumns+` FROM debts d
			WHERE d.done = 0 AND d.due <= ? ORDER BY d.due, d.id`, sqlite.Stamp(now))
		if err != nil {
			return err
		}
		for _, one := range due {
			if one.Kind == KindHook && slices.ContainsFunc(due, func(other Debt) bool { // the daemon gets the key first
				return other.Kind == KindDaemon && other.Key == one.Key && other.Attempts == 0
			}) {
				continue
			}
			if d, err = s.takeUp(ctx, tx, one, now); err != nil || d.ID != 0 {
				return err
			}
		}
		return nil
	})
	if err == nil && d.ID == 0 {
		err = ErrNothingDue
	}
	return d, err
}

// takeUp takes up a debt; taken is zero if that has to wait, or is closed because a post of it died twice.
func (s Debts) takeUp(ctx context.Context, tx *sql.Tx, d Debt, now time.Time) (taken Debt, err error) {
	if waits, err := s.mayStillWrite(ctx, tx, d, now); err != nil || waits {
		return Debt{}, err
	}
	if !d.Posted.IsZero() {
		again, err := entry{ctx, tx, d, now}.unanswered(true, "no answer came while the worker lived")
		if err != nil || !again {
			return Debt{}, err
		}
	}
	if _, err := tx.ExecContext(ctx, `UPDATE debts SET again = again AND (unanswered <> 0 OR parts > 0), posted = 0
		WHERE id = ?`, d.ID); err != nil {
		return Debt{}, err
	}
	return scanDebt(tx.QueryRowContext(ctx, `SELECT `+debtColumns+` FROM debts d WHERE id = ?`, d.ID))
}

// departedLimit is how long debts wait for a process that has departed: longer than any harness gets to end.
const departedLimit = 30 * time.Second

// mayStillWrite reports whether a process that has departed still lives, and may add turns to what d is to deliver.
func (s Debts) mayStillWrite(ctx context.Context, tx *sql.Tx, d Debt, now time.Time) (bool, error) {
	if d.Payload != "" {
		return false, nil
	}
	departed, err := sqlite.Collect(ctx, tx, sqlite.One[string], `SELECT id FROM processes WHERE ended > ?
		AND id IN (SELECT process FROM turns WHERE key = ?)`, sqlite.Stamp(now.Add(-departedLimit)), d.Key)
	return slices.ContainsFunc(departed, func(id string) bool { return Alive(s.live, id) }), err
}

// A daemon runs a job for each delivery. These say when a later delivery is worth one (docs/architecture.md,
// "After a session").
const (
	worthTurns = 5
	worthRunes = 500
	worthAfter = 24 * time.Hour
)

// A session that goes on is delivered before its end, so that a long one is not lost with its machine.
const (
	soFarTurns = 20
	soFarAfter = time.Hour
)

// DueSoFar reports whether what a session has said is due, so many turns and so long after it last was.
func DueSoFar(turns int, after time.Duration) bool { return turns >= soFarTurns || after >= soFarAfter }

// worthWaiting returns the time before which the new turns are not worth a job, zero if they are now.
func worthWaiting(news []Turn, now time.Time) time.Time {
	runes := 0
	for _, t := range news {
		runes += utf8.RuneCountInString(t.User) + utf8.RuneCountInString(t.Assistant)
	}
	if len(news) >= worthTurns && runes >= worthRunes {
		return time.Time{}
	}
	if at := news[0].Started.Add(worthAfter); at.After(now) {
		return at
	}
	return time.Time{}
}
