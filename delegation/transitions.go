package delegation

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"os"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Begin makes runner the one that runs a delegation. errTaken: another process does, or it may not begin any more.
func (l *Ledger) Begin(ctx context.Context, id, runner string) (Delegation, error) {
	var d Delegation
	err := sqlite.Write(ctx, l.db, "beginning a delegation", func(tx *sql.Tx) error {
		err := sqlite.MustHit(ctx, tx, errTaken, `UPDATE delegations SET state = ?, runner = ?, pid = ?, started = ?
			WHERE id = ? AND state = ? AND created > ?`, Running, runner, os.Getpid(), sqlite.Stamp(l.now()), id,
			Queued, sqlite.Stamp(l.now().Add(-beginLimit)))
		if err != nil {
			return err
		}
		if err := l.noteEvent(ctx, tx, id); err != nil {
			return err
		}
		d, err = byID(ctx, tx, id)
		return err
	})
	return d, err
}

// noteEvent adds the state of a delegation to the events of the session that asked for it (docs/events.md).
func (l *Ledger) noteEvent(ctx context.Context, tx *sql.Tx, id string) error {
	d, err := byID(ctx, tx, id)
	if err != nil {
		return err
	}
	data, err := json.Marshal(map[string]any{"delegation": d.ID, "agent": d.Agent, "mode": d.Mode, "state": d.State,
		"acpId": d.ACPID, "turns": d.Usage.Turns, "tokens": d.Usage.Tokens, "cost": d.Usage.Cost,
		"currency": d.Usage.Currency})
	if err != nil {
		return err
	}
	return correlation.NoteEvent(ctx, tx, d.Key, correlation.StoredEvent{At: l.now(), Kind: correlation.KindDelegation,
		Process: cmp.Or(d.Runner, d.Process), Turn: d.Turn, Data: data})
}

// saveProgress saves how far the run of a delegation is. errTaken: it is not this runner's any more.
func (l *Ledger) saveProgress(ctx context.Context, d Delegation, r Run) error {
	r.Progress, r.Last = clean(r.Progress), clean(r.Last)
	return sqlite.Write(ctx, l.db, "noting how a delegation stands", func(tx *sql.Tx) error {
		before, err := byID(ctx, tx, d.ID)
		if err != nil {
			return err
		}
		err = sqlite.MustHit(ctx, tx, errTaken, `UPDATE delegations SET acp_id = ?, folder = ?, work = ? WHERE id = ?
			AND runner = ? AND state = ?`, r.ACPID, r.Folder, column(r), d.ID, d.Runner, Running)
		if err != nil || before.ACPID == r.ACPID && before.Usage.Turns == r.Usage.Turns {
			return err
		}
		return l.noteEvent(ctx, tx, d.ID)
	})
}

// checkStop returns why a delegation is to end, "" for no reason, and what the delegations inside it have used.
func (l *Ledger) checkStop(ctx context.Context, d Delegation) (cancel string, inside Usage, err error) {
	var asked string
	err = l.db.QueryRowContext(ctx, `SELECT d.cancel, coalesce(sum(i.work ->> '$.usage.turns'), 0),
		sum(i.work ->> '$.usage.tokens'), sum(i.work ->> '$.usage.cost')
		FROM delegations d LEFT JOIN delegations i ON i.parent = d.id WHERE d.id = ?`, d.ID).
		Scan(&asked, &inside.Turns, &inside.Tokens, &inside.Cost)
	if err != nil || asked != "" || d.Detach {
		return asked, inside, sqlite.While("watching a delegation", err)
	}
	if d.Turn > 0 {
		switch stop, open, err := l.sessions.TurnStands(ctx, d.Turn); {
		case err != nil:
			return "", inside, err
		case stop == "cancelled":
			return "its caller's turn was cancelled", inside, nil
		case !open:
			return "its caller's session was closed", inside, nil
		}
	}
	if d.Process != "" && !correlation.Alive(l.live, d.Process) {
		return "its caller has ended", inside, nil
	}
	return "", inside, nil
}

// End stores how a run ended. errTaken: it is not this runner's any more.
func (l *Ledger) End(ctx context.Context, d Delegation) error {
	d.Reason, d.Answer = clean(d.Reason), clean(d.Answer)
	d.Paths, d.Refused = cleaned(d.Paths), cleaned(d.Refused)
	d.Progress, d.Last = "", ""
	return l.change(ctx, d.ID, errTaken, `UPDATE delegations SET state = ?, folder = ?, tree = ?,
		work = ?, result = ?, ended = ? WHERE id = ? AND runner = ? AND state = ?`, d.State, d.Folder, d.Tree,
		column(d.Run), column(d.Result), sqlite.Stamp(l.now()), d.ID, d.Runner, Running)
}

// cancel asks the runner to end a delegation; one that has not begun ends at once.
func (l *Ledger) cancel(ctx context.Context, id, why string) error {
	return l.change(ctx, id, nil, `UPDATE delegations SET cancel = ?2,
		result = iif(state = 'queued', json_set(result, '$.reason', ?2), result),
		ended = iif(state = 'queued', ?3, ended), state = iif(state = 'queued', 'cancelled', state)
		WHERE id = ?1 AND ended = 0 AND cancel = ''`, id, why, sqlite.Stamp(l.now()))
}

// endWithout ends a delegation that no runner ends: it is as before, of the state and the runner that d has.
func (l *Ledger) endWithout(ctx context.Context, d Delegation, state State, why string) error {
	return l.change(ctx, d.ID, nil, `UPDATE delegations SET state = ?, ended = ?,
		result = json_set(result, '$.reason', ?) WHERE id = ? AND state = ? AND runner = ?`, state,
		sqlite.Stamp(l.now()), why, d.ID, d.State, d.Runner)
}

// change runs an UPDATE of a row, and notes the event. Where no row is changed it returns none.
func (l *Ledger) change(ctx context.Context, id string, none error, query string, args ...any) error {
	return sqlite.Write(ctx, l.db, "changing a delegation", func(tx *sql.Tx) error {
		if n, err := sqlite.Change(ctx, tx, query, args...); err != nil || n == 0 {
			return cmp.Or(err, none)
		}
		return l.noteEvent(ctx, tx, id)
	})
}

// Settle stores the state Lost or Failed for delegations whose runner is dead or never began.
func (l *Ledger) Settle(ctx context.Context) error {
	open, err := l.stored(ctx, `WHERE ended = 0`)
	if err != nil {
		return err
	}
	for _, d := range open {
		if state, why := l.actualState(d); state != d.State {
			if err := l.endWithout(ctx, d, state, why); err != nil {
				return err
			}
		}
	}
	return nil
}
