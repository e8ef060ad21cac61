package correlation

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Due returns when the next open delivery is due (the zero time if none is open) and how many are open.
func (s *Store) Due(ctx context.Context) (next time.Time, open int, err error) {
	var due int64
	err = s.db.QueryRowContext(ctx, `SELECT coalesce(min(due), 0), count(*) FROM deliveries
		WHERE done = 0`).Scan(&due, &open)
	return sqlite.Unstamp(due), open, sqlite.While("reading what is owed", err)
}

// Lease leases a delivery that is due to worker, or returns ErrNothingDue. Deliveries that another worker holds are
// skipped as long as that one lives and renews. A post that a dead worker left without an answer is repeated once;
// closed are the transcript files of those that were repeated and are closed now, for the caller to remove. A hook
// waits until the daemon's first attempt with the same key is over, and both wait for a process that has said that it
// ends (Batch.End) and still lives.
func (s *Store) Lease(ctx context.Context, worker *Process) (leased Delivery, closed []string, err error) {
	err = s.write(ctx, "leasing a delivery", func(tx *sql.Tx) error {
		now := s.now()
		closed = nil
		due, err := sqlite.Collect(ctx, tx, scanDelivery, `SELECT `+deliveryColumns+` FROM deliveries d
			WHERE d.done = 0 AND d.due <= ? ORDER BY d.due, d.id`, sqlite.Stamp(now))
		if err != nil {
			return err
		}
		waits := s.waiting(due, now)
		for _, d := range due {
			if waits(d) {
				continue
			}
			var file string
			if leased, file, err = s.lease(ctx, tx, worker, d, now); file != "" {
				closed = append(closed, file)
			}
			if err != nil || leased.ID != 0 {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Delivery{}, nil, err
	}
	if leased.ID == 0 {
		err = ErrNothingDue
	}
	return leased, closed, err
}

// waiting returns a function that reports whether one of the deliveries that are due has to wait: a worker holds it, or
// it is a hook whose key the daemon gets first.
func (s *Store) waiting(due []Delivery, now time.Time) func(Delivery) bool {
	held := func(d Delivery) bool { return d.Lease != "" && d.LeasedUntil.After(now) && s.alive(d.Lease) }
	daemonFirst := make(map[string]bool) // keys
	for _, d := range due {
		if d.Kind == KindDaemon && (d.Attempts == 0 || held(d)) {
			daemonFirst[d.Key] = true
		}
	}
	return func(d Delivery) bool { return held(d) || d.Kind == KindHook && daemonFirst[d.Key] }
}

// lease leases a delivery that nobody holds; leased is zero if that has to wait, or is closed. closed is the file of
// one that dead workers have posted twice.
func (s *Store) lease(
	ctx context.Context, tx *sql.Tx, worker *Process, d Delivery, now time.Time,
) (leased Delivery, closed string, err error) {
	if waits, err := s.mayStillWrite(ctx, tx, d, now); err != nil || waits {
		return Delivery{}, "", err
	}
	if !d.Posted.IsZero() {
		again, err := s.recordUnanswered(ctx, tx, d, now, "no answer came while the worker lived")
		if err != nil || !again {
			return Delivery{}, d.File, err
		}
	}
	if _, err := tx.ExecContext(ctx, `UPDATE deliveries SET lease = ?, leases = leases + 1, leased_until = ?,
		again = again AND (unanswered > 0 OR parts > 0), posted = 0 WHERE id = ?`,
		worker.id, sqlite.Stamp(now.Add(LeaseTime)), d.ID); err != nil {
		return Delivery{}, "", err
	}
	leased, err = scanDelivery(tx.QueryRowContext(ctx, `SELECT `+deliveryColumns+` FROM deliveries d
		WHERE id = ?`, d.ID))
	return leased, "", err
}

// departedLimit is how long deliveries wait for a process that has departed: longer than any harness gets to end.
const departedLimit = 30 * time.Second

// mayStillWrite reports whether a process that has departed still lives, and may add turns to what d is to deliver.
func (s *Store) mayStillWrite(ctx context.Context, tx *sql.Tx, d Delivery, now time.Time) (bool, error) {
	if d.Payload != "" {
		return false, nil
	}
	departed, err := sqlite.Collect(ctx, tx, sqlite.One[string], `SELECT id FROM processes WHERE ended > ?
		AND id IN (SELECT process FROM turns WHERE key = ?)`, sqlite.Stamp(now.Add(-departedLimit)), d.Key)
	return slices.ContainsFunc(departed, s.alive), err
}

// ForgetOrders takes out of a database that may come from anybody what it would have us do: commands to run, daemons to
// send what was said to, files to remove. What is owed stays owed, by the configuration's own command and daemon.
func (s *Store) ForgetOrders(ctx context.Context) error {
	return s.write(ctx, "taking commands and addresses out of a backup", func(tx *sql.Tx) error {
		for _, statement := range []string{
			`UPDATE deliveries SET hook_command = '', hook_limit = 0, url = '', file = '', lease = ''`,
			`UPDATE processes SET hook_command = '', hook_limit = 0, url = ''`,
			`DELETE FROM noted WHERE kind = 'daemon'`,
		} {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}
