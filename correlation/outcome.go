package correlation

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// recordUnanswered records a post that got no answer, and the file that was written for it, and reports whether the
// post is to be repeated.
func (s *Store) recordUnanswered(
	ctx context.Context, tx *sql.Tx, d Delivery, now time.Time, why string,
) (again bool, err error) {
	if d.Unanswered > 0 {
		if _, err := tx.ExecContext(ctx, `UPDATE deliveries SET unanswered = unanswered + 1 WHERE id = ?`,
			d.ID); err != nil {
			return false, err
		}
		const posted = ` AND ended > 0 AND id BETWEEN ?3 AND ?4`
		if err := markTurns(ctx, tx, d, posted, d.FirstTurn, d.LastTurn); err != nil {
			return false, err
		}
		return false, s.finish(ctx, tx, d, Unknown, "", why)
	}
	_, err = tx.ExecContext(ctx, `UPDATE deliveries SET state = ?, unanswered = 1, failures = failures + 1, posted = 0,
		lease = '', file = ?, error = ?, due = ? WHERE id = ?`,
		Unknown, d.File, cutNote(why), sqlite.Stamp(now.Add(backoff(d.failures+1))), d.ID)
	return true, err
}

// backoff is the pause after n failures in a row: 1 s, doubled up to 1 h.
func backoff(n int) time.Duration {
	if n > 12 { // 2^12 s is more than an hour
		return maxBackoff
	}
	return min(minBackoff<<max(n-1, 0), maxBackoff)
}

// withLease runs f in a transaction, with the delivery's row as it is now, if the caller's lease on it is valid.
// Otherwise it returns ErrLeaseLost, as do the methods that use it.
func (s *Store) withLease(
	ctx context.Context, doing string, lease Delivery, f func(tx *sql.Tx, d Delivery, now time.Time) error,
) error {
	return s.write(ctx, doing, func(tx *sql.Tx) error {
		d, err := scanDelivery(tx.QueryRowContext(ctx, `SELECT `+deliveryColumns+` FROM deliveries d
			WHERE id = ? AND lease = ? AND leases = ? AND done = 0`, lease.ID, lease.Lease, lease.leases))
		if orNotFound(err) == ErrNotFound {
			return ErrLeaseLost
		}
		if err != nil {
			return err
		}
		d.File = "" // callers remove it before they note the outcome
		return f(tx, d, s.now())
	})
}

// Renew makes a lease valid for another LeaseTime.
func (s *Store) Renew(ctx context.Context, lease Delivery) error {
	return s.withLease(ctx, "renewing a lease", lease, func(tx *sql.Tx, d Delivery, now time.Time) error {
		_, err := tx.ExecContext(ctx, `UPDATE deliveries SET leased_until = ? WHERE id = ?`,
			sqlite.Stamp(now.Add(LeaseTime)), d.ID)
		return err
	})
}

// Defer gives the lease back without an attempt. The delivery is due again at until, or at once if more became owed
// meanwhile.
func (s *Store) Defer(ctx context.Context, lease Delivery, until time.Time) error {
	return s.withLease(ctx, "deferring a delivery", lease, func(tx *sql.Tx, d Delivery, now time.Time) error {
		if d.again {
			until = now
		}
		_, err := tx.ExecContext(ctx, `UPDATE deliveries SET lease = '', due = ? WHERE id = ?`,
			sqlite.Stamp(until), d.ID)
		return err
	})
}

// Attempt notes that the selected turns are being posted, and the transcript file (empty: none) that is written for
// that. Call it before doing either: a worker that dies from here on leaves the delivery unknown.
func (s *Store) Attempt(ctx context.Context, lease Delivery, post Selection, file string) error {
	return s.withLease(ctx, "noting a post", lease, func(tx *sql.Tx, d Delivery, now time.Time) error {
		var first, last int64
		for _, t := range post.Turns {
			last = max(last, t.ID)
			if first == 0 || t.ID < first {
				first = t.ID
			}
		}
		_, err := tx.ExecContext(ctx, `UPDATE deliveries SET attempts = attempts + 1, posted = ?, leased_until = ?,
			first_turn = ?, last_turn = ?, turns = ?, file = ?,
			posted_to = iif(unanswered > 0 OR parts > 0, posted_to, ?) WHERE id = ?`,
			sqlite.Stamp(now), sqlite.Stamp(now.Add(LeaseTime)), first, last, len(post.Turns), file, post.Last, d.ID)
		return err
	})
}

// Part notes that a part of a long transcript was accepted. The lease stays.
func (s *Store) Part(ctx context.Context, lease Delivery, post Selection, reply string) error {
	return s.withLease(ctx, "noting a part", lease, func(tx *sql.Tx, d Delivery, _ time.Time) error {
		if err := markPosted(ctx, tx, d, post); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE deliveries SET state = ?, parts = parts + 1, posted = 0, unanswered = 0,
			failures = 0, reply = ?, error = '' WHERE id = ?`, Owed, cutNote(reply), d.ID)
		return err
	})
}

// Delivered notes that the post was accepted. If more became owed under the same key meanwhile, it gets a delivery of
// its own.
func (s *Store) Delivered(ctx context.Context, lease Delivery, post Selection, reply string) error {
	return s.withLease(ctx, "noting a delivery", lease, func(tx *sql.Tx, d Delivery, _ time.Time) error {
		if err := markPosted(ctx, tx, d, post); err != nil {
			return err
		}
		return s.finish(ctx, tx, d, Delivered, reply, "")
	})
}

// Dropped notes that the post was answered and not accepted, and why if that is known. Its turns go along with the
// key's next delivery.
func (s *Store) Dropped(ctx context.Context, lease Delivery, post Selection, reply, why string) error {
	return s.withLease(ctx, "noting a delivery", lease, func(tx *sql.Tx, d Delivery, _ time.Time) error {
		if d.Parts > 0 { // the parts before it were accepted
			return s.finish(ctx, tx, d, Delivered, reply, why)
		}
		if err := markPosted(ctx, tx, d, post); err != nil {
			return err
		}
		return s.finish(ctx, tx, d, Dropped, reply, why)
	})
}

// Unanswered notes that a post was sent and no answer came. The first time the post is repeated, the second time the
// delivery stays unknown. So make sure before a post that the other side answers at all, and call Retry if it does not.
func (s *Store) Unanswered(ctx context.Context, lease Delivery, why string) error {
	const doing = "noting a post without an answer"
	return s.withLease(ctx, doing, lease, func(tx *sql.Tx, d Delivery, now time.Time) error {
		_, err := s.recordUnanswered(ctx, tx, d, now, why)
		return err
	})
}

// Retry notes that nothing was accepted and nothing is in doubt: the post was refused, the other side was not reached,
// or it asked to be called later. The delivery is due again after a back-off, or after the given time if that is
// longer; 14 days after it was owed it is dead.
func (s *Store) Retry(ctx context.Context, lease Delivery, why string, after time.Duration) error {
	return s.withLease(ctx, "noting a failed delivery", lease, func(tx *sql.Tx, d Delivery, now time.Time) error {
		if now.Sub(d.Owed) >= giveUp {
			return s.finish(ctx, tx, d, Dead, d.Reply, why)
		}
		wait := max(backoff(d.failures+1), after)
		_, err := tx.ExecContext(ctx, `UPDATE deliveries SET failures = failures + 1, posted = 0, lease = '', file = '',
			error = ?, due = ? WHERE id = ?`, cutNote(why), sqlite.Stamp(now.Add(wait)), d.ID)
		return err
	})
}

// MakeDue makes deliveries that wait after a failure due now: a person who asks for it does not want to wait for the
// back-off.
func (s *Store) MakeDue(ctx context.Context) error {
	return s.write(ctx, "making deliveries due", func(tx *sql.Tx) error {
		now := sqlite.Stamp(s.now())
		_, err := tx.ExecContext(ctx, `UPDATE deliveries SET due = ? WHERE done = 0 AND failures > 0 AND lease = ''
			AND due > ?`, now, now)
		return err
	})
}

// finish closes a delivery, and opens another for turns of the same key that are not in it: those that became owed
// after it was leased or begun, and those behind a part that got no answer.
func (s *Store) finish(ctx context.Context, tx *sql.Tx, d Delivery, state DeliveryState, reply, why string) error {
	now := sqlite.Stamp(s.now())
	_, err := tx.ExecContext(ctx, `UPDATE deliveries SET state = ?, done = ?, lease = '', posted = 0, failures = 0,
		file = ?, reply = ?, error = ? WHERE id = ?`,
		state, now, d.File, cutNote(reply), cutNote(why), d.ID)
	if err != nil || !d.again && state != Unknown {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO deliveries (session, key, kind, reason, url, agent_id, hook_command,
		hook_limit, state, created, owed, due)
		SELECT ?1, ?2, ?3, ?4, ?5, agent_id, hook_command, hook_limit, ?6, ?7, ?8, ?9 FROM deliveries WHERE id = ?11
		AND EXISTS (SELECT 1 FROM turns WHERE key = ?10 AND ended > 0 AND `+d.column()+` = 0)`,
		d.Session, d.Key, d.Kind, d.Reason, d.URL, Owed, now, now, now, d.Key, d.ID)
	return err
}

// markTurns notes the delivery in those turns of its key, limited by the condition which, that no earlier delivery
// took.
func markTurns(ctx context.Context, tx *sql.Tx, d Delivery, which string, args ...any) error {
	if d.Payload != "" {
		return nil
	}
	column := d.column()
	_, err := tx.ExecContext(ctx, `UPDATE turns SET `+column+` = ?1 WHERE key = ?2
		AND (`+column+` = 0 OR `+column+` IN (SELECT id FROM deliveries WHERE state = 'dropped'))`+which,
		append([]any{d.ID, d.Key}, args...)...)
	return err
}

func markPosted(ctx context.Context, tx *sql.Tx, d Delivery, post Selection) error {
	ids := make([]int64, len(post.Turns))
	for i, t := range post.Turns {
		ids[i] = t.ID
	}
	return markTurns(ctx, tx, d, ` AND id IN (SELECT value FROM json_each(?3))`, sqlite.List(ids))
}

// maxNote is how many bytes are stored of replies and errors, which come from outside.
const maxNote = 4 << 10

func cutNote(s string) string {
	return strings.ToValidUTF8(chars.Cut(s, maxNote), "\uFFFD")
}
