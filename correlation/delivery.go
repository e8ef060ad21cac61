package correlation

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"
)

// Kinds of deliveries.
const (
	KindDaemon     = "daemon"     // a session-end with the transcript
	KindHook       = "hook"       // on_session_end
	KindCompaction = "compaction" // a compaction-complete; the payload is the summary
)

// A DeliveryState says how far a delivery has come. Owed and unknown ones are open until they are done.
type DeliveryState string

const (
	Owed      DeliveryState = "owed"
	Unknown   DeliveryState = "unknown" // posted, and no answer came: repeated once, then left at that
	Delivered DeliveryState = "delivered"
	Dropped   DeliveryState = "dropped" // answered, and not taken
	Dead      DeliveryState = "dead"    // given up after 14 days
)

const (
	// LeaseTime is how long a lease is good without Renew. A dead worker's is free at once.
	LeaseTime = 5 * time.Minute

	minBackoff = time.Second
	maxBackoff = time.Hour
	giveUp     = 14 * 24 * time.Hour
)

// A Delivery is something owed after a session.
type Delivery struct {
	ID, Session         int64
	Key                 string // the Signet key that it is delivered under
	Kind                string
	Reason              string // why the process ended
	URL                 string // the daemon's, where a person named one
	State               DeliveryState
	Created, Owed, Due  time.Time
	Done                time.Time // zero: open
	Attempts            int
	Unanswered          int
	Parts               int // parts of a long transcript that were answered
	Lease               string
	LeasedUntil         time.Time
	Posted              time.Time // not zero: a post is on its way, or was when its worker died
	FirstTurn, LastTurn int64     // what the last post held
	Turns               int
	File                string // the transcript file that was written for the last attempt; after an outcome is noted there is none
	Reply, Error        string
	Payload             string

	leases   int // with Lease, the name of the lease
	failures int
	again    bool
}

const deliveryColumns = `d.id, d.session, d.key, d.kind, d.reason, d.url, d.state, d.created, d.owed, d.due, d.done, d.attempts, d.failures, d.unanswered, d.parts,
	d.lease, d.leases, d.leased_until, d.again, d.posted, d.first_turn, d.last_turn, d.turns, d.file, d.reply, d.error, d.payload`

func scanDelivery(row scanner) (d Delivery, err error) {
	var created, owed, due, done, until, posted int64
	err = row.Scan(&d.ID, &d.Session, &d.Key, &d.Kind, &d.Reason, &d.URL, &d.State, &created, &owed, &due, &done, &d.Attempts, &d.failures, &d.Unanswered, &d.Parts,
		&d.Lease, &d.leases, &until, &d.again, &posted, &d.FirstTurn, &d.LastTurn, &d.Turns, &d.File, &d.Reply, &d.Error, &d.Payload)
	d.Created, d.Owed, d.Due, d.Done = unstamp(created), unstamp(owed), unstamp(due), unstamp(done)
	d.LeasedUntil, d.Posted = unstamp(until), unstamp(posted)
	return d, err
}

// A Debt is something owed that is not in the turns.
type Debt struct {
	Session int64
	Kind    string
	Reason  string
	Payload string // not empty
}

// Owe leaves a delivery row for a debt to the daemon, due at once, where this process owes it anything. What the turns owe is left by End, Leave and SweepDead.
func (p *Process) Owe(ctx context.Context, debt Debt) error {
	s := p.store
	if debt.Payload == "" {
		return explain("leaving a delivery", errors.New("nothing to deliver"))
	}
	now := stamp(s.now())
	return s.write(ctx, "leaving a delivery", func(tx *sql.Tx) error {
		info, err := processByID(ctx, tx, p.id)
		if err != nil {
			return err
		}
		owed, err := s.owesDaemon(ctx, tx, info)
		if err != nil || !owed {
			return err
		}
		return mustHit(ctx, tx, ErrNotFound, `INSERT INTO deliveries (session, key, kind, reason, url, state, created, owed, due, payload)
			SELECT id, key, ?, ?, ?, ?, ?, ?, ?, ? FROM sessions WHERE id = ?`, debt.Kind, debt.Reason, info.url, Owed, now, now, now, debt.Payload, debt.Session)
	})
}

// oweFor ends the open turns of a process, in one session or in all (0), and leaves a delivery row for each key and kind under which there are
// turns of it that were not delivered. A row that is open already becomes due again.
func (s *Store) oweFor(ctx context.Context, tx *sql.Tx, p process, session int64, reason string) error {
	now := stamp(s.now())
	const mine = ` WHERE process = ?1 AND (?2 = 0 OR session = ?2)`
	if _, err := tx.ExecContext(ctx, `UPDATE turns SET ended = ?3`+mine+` AND ended = 0`, p.id, session, now); err != nil {
		return err
	}
	owe := func(kind, column string) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO deliveries (session, key, kind, reason, url, state, created, owed, due)
			SELECT max(session), key, ?3, ?4, ?7, ?5, ?6, ?6, ?6 FROM turns`+mine+` AND `+column+` = 0 GROUP BY key
			ON CONFLICT (key, kind) WHERE done = 0 AND payload = '' DO UPDATE SET session = excluded.session, reason = excluded.reason, url = excluded.url, owed = excluded.owed,
				due = excluded.due, again = lease <> ''`,
			p.id, session, kind, reason, Owed, now, p.url)
		return err
	}
	daemon, err := s.owesDaemon(ctx, tx, p)
	if err != nil {
		return err
	}
	if daemon {
		if err := owe(KindDaemon, "daemon_delivery"); err != nil {
			return err
		}
	}
	if p.hook {
		return owe(KindHook, "hook_delivery")
	}
	return nil
}

// Due gives when the next open delivery is due (the zero time if none is open) and how many are open.
func (s *Store) Due(ctx context.Context) (next time.Time, open int, err error) {
	var due int64
	err = s.db.QueryRowContext(ctx, `SELECT coalesce(min(due), 0), count(*) FROM deliveries WHERE done = 0`).Scan(&due, &open)
	return unstamp(due), open, explain("reading what is owed", err)
}

// Lease gives a delivery that is due, to worker alone, or ErrNothingDue. What another worker holds is skipped as long as that one lives, and renews.
// A post that a dead worker left without an answer is repeated once. A hook waits until the daemon's first attempt with the same key is over, and both until a process that has departed is gone.
func (s *Store) Lease(ctx context.Context, worker *Process) (Delivery, error) {
	var leased Delivery
	err := s.write(ctx, "leasing a delivery", func(tx *sql.Tx) error {
		now := s.now()
		due, err := collect(ctx, tx, scanDelivery, `SELECT `+deliveryColumns+` FROM deliveries d WHERE d.done = 0 AND d.due <= ? ORDER BY d.due, d.id`, stamp(now))
		if err != nil {
			return err
		}
		held := func(d Delivery) bool { return d.Lease != "" && d.LeasedUntil.After(now) && s.alive(d.Lease) }
		before := make(map[string]bool) // keys whose hook has to wait
		for _, d := range due {
			if d.Kind == KindDaemon && (d.Attempts == 0 || held(d)) {
				before[d.Key] = true
			}
		}
		for _, d := range due {
			if held(d) || d.Kind == KindHook && before[d.Key] {
				continue
			}
			waits, err := s.heardOut(ctx, tx, d, now)
			if err != nil {
				return err
			}
			if waits {
				continue
			}
			if !d.Posted.IsZero() {
				again, err := s.leftUnanswered(ctx, tx, d, now, "no answer came while the worker lived")
				if err != nil {
					return err
				}
				if !again {
					continue
				}
			}
			if _, err := tx.ExecContext(ctx, `UPDATE deliveries SET lease = ?, leases = leases + 1, leased_until = ?, again = 0, posted = 0 WHERE id = ?`,
				worker.id, stamp(now.Add(LeaseTime)), d.ID); err != nil {
				return err
			}
			leased, err = scanDelivery(tx.QueryRowContext(ctx, `SELECT `+deliveryColumns+` FROM deliveries d WHERE id = ?`, d.ID))
			return err
		}
		return nil
	})
	if err == nil && leased.ID == 0 {
		err = ErrNothingDue
	}
	return leased, err
}

// heardOutFor is how long a process that has departed is waited for: longer than any harness is given to end.
const heardOutFor = 30 * time.Second

// heardOut reports whether a process that has departed still hears its harness out, and may add to what d is to deliver.
func (s *Store) heardOut(ctx context.Context, tx *sql.Tx, d Delivery, now time.Time) (bool, error) {
	if d.Payload != "" {
		return false, nil
	}
	departed, err := collect(ctx, tx, func(row scanner) (id string, err error) {
		err = row.Scan(&id)
		return id, err
	}, `SELECT id FROM processes WHERE ended > ? AND id IN (SELECT process FROM turns WHERE key = ?)`, stamp(now.Add(-heardOutFor)), d.Key)
	return slices.ContainsFunc(departed, s.alive), err
}

// leftUnanswered records a post that got no answer, and the file that is left of it, and reports whether the post is to be repeated.
func (s *Store) leftUnanswered(ctx context.Context, tx *sql.Tx, d Delivery, now time.Time, why string) (again bool, err error) {
	if d.Unanswered > 0 {
		if _, err := tx.ExecContext(ctx, `UPDATE deliveries SET unanswered = unanswered + 1 WHERE id = ?`, d.ID); err != nil {
			return false, err
		}
		if err := mark(ctx, tx, d, ` AND ended > 0 AND id BETWEEN ?3 AND ?4`, d.FirstTurn, d.LastTurn); err != nil {
			return false, err
		}
		return false, s.finish(ctx, tx, d, Unknown, "", why)
	}
	_, err = tx.ExecContext(ctx, `UPDATE deliveries SET state = ?, unanswered = 1, failures = failures + 1, posted = 0, lease = '', file = ?, error = ?, due = ? WHERE id = ?`,
		Unknown, d.File, cutNote(why), stamp(now.Add(backoff(d.failures+1))), d.ID)
	return true, err
}

// backoff is the wait after n failures in a row: 1 s, doubled up to 1 h.
func backoff(n int) time.Duration {
	if n > 12 { // 2^12 s is more than an hour
		return maxBackoff
	}
	return min(minBackoff<<max(n-1, 0), maxBackoff)
}
