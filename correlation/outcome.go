package correlation

import (
	"context"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// perhapsPosted is what Unanswered is after a worker died in its only attempt: it may not even have posted.
const perhapsPosted = -1

// unanswered notes a post that got no answer, or an attempt in which a worker died, and reports whether it is repeated:
// once, and once more after a worker that may have died before it posted.
func (e entry) unanswered(died bool, why string) (again bool, err error) {
	counts := 1
	if died {
		counts = perhapsPosted
	}
	if e.d.Unanswered > 0 || e.d.Unanswered == counts {
		err := e.exec(`UPDATE debts SET unanswered = abs(unanswered) + 1 WHERE id = ?`, e.d.ID)
		if err == nil {
			err = e.markTurns(` AND ended > 0 AND id BETWEEN ?3 AND ?4`, e.d.FirstTurn, e.d.LastTurn)
		}
		if err == nil {
			err = e.finish(Unknown, "", why)
		}
		return false, err
	}
	// It was reached, so it is tried again soon, however often it was not before: a daemon knows a second post for half
	// an hour (docs/facts/signet-daemon.md, "The end of a session").
	return true, e.exec(`UPDATE debts SET state = ?, unanswered = ?, failures = 1, posted = 0, waits = 0, error = ?,
		due = ? WHERE id = ?`, Unknown, counts, cutNote(why), sqlite.Stamp(e.now.Add(backoff(1))), e.d.ID)
}

// backoff is the pause after n failures in a row: 1 s, doubled up to 1 h.
func backoff(n int) time.Duration {
	if n > 12 { // 2^12 s is more than an hour
		return maxBackoff
	}
	return min(minBackoff<<max(n-1, 0), maxBackoff)
}

// Defer leaves a debt for later on purpose, without an attempt. It is due again at until, or at once if more became
// owed meanwhile.
func (s Debts) Defer(ctx context.Context, taken Debt, until time.Time) error {
	return s.note(ctx, "leaving for later", taken, func(e entry) error {
		if e.d.again {
			until = e.now
		}
		return e.exec(`UPDATE debts SET waits = 1, due = ? WHERE id = ?`, sqlite.Stamp(until), e.d.ID)
	})
}

// Attempt notes that the selected turns are being posted. Call it before that: a worker that dies from here on leaves
// the debt unknown.
func (s Debts) Attempt(ctx context.Context, taken Debt, post Selection) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.note(ctx, "noting a post", taken, func(e entry) error {
		var first, last int64
		for _, t := range post.Turns {
			last = max(last, t.ID)
			if first == 0 || t.ID < first {
				first = t.ID
			}
		}
		return e.exec(`UPDATE debts SET attempts = attempts + 1, posted = ?, first_turn = ?,
			last_turn = ?, turns = ? + (SELECT count(*) FROM turns WHERE `+e.d.column()+` = debts.id),
			posted_to = iif(unanswered <> 0 OR parts > 0, posted_to, ?) WHERE id = ?`,
			sqlite.Stamp(e.now), first, last, len(post.Turns), post.Last, e.d.ID)
	})
}

// Part notes that a part of a long transcript was accepted.
func (s Debts) Part(ctx context.Context, taken Debt, post Selection, reply string) error {
	return s.note(ctx, "noting a part", taken, func(e entry) error {
		if err := e.markPosted(post); err != nil {
			return err
		}
		return e.exec(`UPDATE debts SET state = ?, parts = parts + 1, posted = 0, unanswered = 0, failures = 0,
			reply = ?, error = '' WHERE id = ?`, Owed, cutNote(reply), e.d.ID)
	})
}

// Delivered notes that the post was accepted. If more became owed under the same key meanwhile, it gets a delivery of
// its own.
func (s Debts) Delivered(ctx context.Context, taken Debt, post Selection, reply string) error {
	return s.note(ctx, "noting a delivery", taken, func(e entry) error {
		if err := e.markPosted(post); err != nil {
			return err
		}
		return e.finish(Delivered, reply, "")
	})
}

// Dropped notes that the post was answered and not accepted, and why if that is known. Its turns go along with the
// key's next delivery.
func (s Debts) Dropped(ctx context.Context, taken Debt, post Selection, reply, why string) error {
	return s.note(ctx, "noting a delivery", taken, func(e entry) error {
		if e.d.Parts > 0 { // the parts before it were accepted
			return e.finish(Delivered, reply, why)
		}
		if err := e.markPosted(post); err != nil {
			return err
		}
		return e.finish(Dropped, reply, why)
	})
}

// Unanswered notes that a post was sent and no answer came. The first time the post is repeated, the next time the
// delivery stays unknown. So make sure before a post that the other side answers at all, and call Retry if it does not.
func (s Debts) Unanswered(ctx context.Context, taken Debt, why string) error {
	return s.note(ctx, "noting a post without an answer", taken, func(e entry) error {
		_, err := e.unanswered(false, why)
		return err
	})
}

// Retry notes that nothing was accepted and nothing is in doubt: the post was refused, or the other side was not
// reached. The debt is due again after a back-off; 14 days after it was owed it is dead.
func (s Debts) Retry(ctx context.Context, taken Debt, why string) error {
	return s.retry(ctx, taken, why, 0, false)
}

// Later is Retry for an other side that asked to be called later, after the given time if that is longer.
func (s Debts) Later(ctx context.Context, taken Debt, why string, after time.Duration) error {
	return s.retry(ctx, taken, why, after, true)
}

func (s Debts) retry(ctx context.Context, taken Debt, why string, after time.Duration, waits bool) error {
	return s.note(ctx, "noting a failure", taken, func(e entry) error {
		if e.now.Sub(e.d.Owed) >= giveUp {
			return e.finish(Dead, e.d.Reply, why)
		}
		wait := max(backoff(e.d.failures+1), after)
		return e.exec(`UPDATE debts SET failures = failures + 1, posted = 0, waits = ?, error = ?, due = ?
			WHERE id = ?`, waits, cutNote(why), sqlite.Stamp(e.now.Add(wait)), e.d.ID)
	})
}

// BrokeOff notes that an attempt ended without an outcome. Its post, if it made one, stays in doubt.
func (s Debts) BrokeOff(ctx context.Context, taken Debt, why string) error {
	return s.note(ctx, "noting a failure", taken, func(e entry) error {
		return e.exec(`UPDATE debts SET failures = failures + 1, error = ?, due = ? WHERE id = ?`, cutNote(why),
			sqlite.Stamp(e.now.Add(backoff(e.d.failures+1))), e.d.ID)
	})
}

// MakeDue makes debts that wait after a failure due now: a person who asks for it does not want to wait for the
// back-off.
func (s Debts) MakeDue(ctx context.Context) error {
	return s.change(ctx, "making debts due", `UPDATE debts SET due = ?1 WHERE done = 0 AND failures > 0 AND due > ?1`,
		sqlite.Stamp(s.now()))
}

// finish closes a delivery, and opens another for turns of the same key that are not in it: those that became owed
// after it was taken up or begun, and those behind a part that got no answer.
func (e entry) finish(state DebtState, reply, why string) error {
	now := sqlite.Stamp(e.now)
	err := e.exec(`UPDATE debts SET state = ?, done = ?, posted = 0, failures = 0, waits = 0, reply = ?, error = ?
		WHERE id = ?`, state, now, cutNote(reply), cutNote(why), e.d.ID)
	if err != nil || !e.d.again && state != Unknown {
		return err
	}
	return e.exec(`INSERT INTO debts (session, key, kind, reason, url, agent_id, hook_command, state, created, owed,
		due) SELECT session, key, kind, reason, url, agent_id, hook_command, ?1, ?2, ?2, ?2 FROM debts WHERE id = ?3
		AND EXISTS (SELECT 1 FROM turns WHERE key = debts.key AND ended > 0 AND `+e.d.column()+` = 0)`,
		Owed, now, e.d.ID)
}

// markTurns notes the delivery in those turns of its key, limited by the condition which, that no earlier delivery
// took.
func (e entry) markTurns(which string, args ...any) error {
	if e.d.Payload != "" {
		return nil
	}
	column := e.d.column()
	return e.exec(`UPDATE turns SET `+column+` = ?1 WHERE key = ?2
		AND (`+column+` = 0 OR `+column+` IN (SELECT id FROM debts WHERE state = 'dropped'))`+which,
		append([]any{e.d.ID, e.d.Key}, args...)...)
}

// markPosted notes the delivery in the turns of a post, and what the daemon makes of them.
func (e entry) markPosted(post Selection) error {
	ids := make([]int64, len(post.Turns))
	for i, t := range post.Turns {
		ids[i] = t.ID
	}
	if err := e.addJob(post.Job, ids); err != nil {
		return err
	}
	return e.markTurns(` AND id IN (SELECT value FROM json_each(?3))`, sqlite.List(ids))
}
