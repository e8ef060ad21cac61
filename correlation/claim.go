package correlation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// changedTo is an ErrStateChanged that says what the state is instead.
func changedTo(have State) error { return fmt.Errorf("%w: it is %q", ErrStateChanged, have) }

// Claim moves a session from one of the states in from to in flight (Sent), for a process, and records inj, whose
// Session, At and Outcome it sets, in one transaction: of two processes only one can win. It returns the id of the
// injection. A session that a process left in flight when it died counts as in doubt. Errors:
// ErrStateChanged, ErrNotFound, or ErrIllegalStep for a state in which nothing is sent.
func (s *Store) Claim(ctx context.Context, id int64, from []State, process string, inj Injection) (int64, error) {
	if process == "" {
		return 0, errors.New("claiming a session: a claim needs a process")
	}
	var ledger int64
	err := s.write(ctx, "claiming a session", func(tx *sql.Tx) error {
		have, err := s.freshState(ctx, tx, id)
		if err != nil {
			return err
		}
		if !slices.Contains(from, have) {
			return changedTo(have)
		}
		next, outcome, err := s.nextState(id, have, Step{Name: Sent})
		if err != nil {
			return err
		}
		now := s.now()
		inj.Session, inj.At, inj.Outcome = id, now, outcome
		if ledger, err = insertInjection(ctx, tx, inj); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE sessions SET state = ?, claim = ?, claim_by = ?, claim_from = ?,
			last_active = ? WHERE id = ?`, next, ledger, process, have, sqlite.Stamp(now), id)
		return err
	})
	if err != nil {
		return 0, err // what the transaction numbered is rolled back
	}
	return ledger, nil
}

// settles reports whether a step ends a claim.
func (s Step) settles() bool {
	switch s.Name {
	case Answered, Refused, Failed, Cancelled, Died:
		return true
	}
	return false
}

// nextState looks a step up in the table of states, and logs one that is not in it.
func (s *core) nextState(id int64, have State, step Step) (State, Outcome, error) {
	next, outcome, ok := have.On(step)
	if !ok {
		s.log.Error().Int64("session", id).Str("state", string(have)).Str("event", string(step.Name)).
			Msg("this cannot happen in this state; nothing was changed")
		return have, Unsettled, IllegalStep(have, step.Name)
	}
	return next, outcome, nil
}

// State returns the state that a session is in now, or ErrNotFound. A session that a process left in flight when it
// died is put in doubt first.
func (s *Store) State(ctx context.Context, id int64) (State, error) {
	var have State
	var by string
	err := s.db.QueryRowContext(ctx, `SELECT state, claim_by FROM sessions WHERE id = ?`, id).Scan(&have, &by)
	if err == nil && (have != InFlight || Alive(s.live, by)) {
		return have, nil
	}
	err = orNotFound(err)
	if err == nil {
		err = s.write(ctx, "reading a session's state", func(tx *sql.Tx) (err error) {
			have, err = s.freshState(ctx, tx, id)
			return err
		})
	}
	return have, sqlite.While("reading a session's state", err)
}

// freshState reads a session's state, after putting what a dead process left in flight in doubt.
func (s *core) freshState(ctx context.Context, tx *sql.Tx, id int64) (State, error) {
	var have State
	var by string
	err := tx.QueryRowContext(ctx, `SELECT state, claim_by FROM sessions WHERE id = ?`, id).Scan(&have, &by)
	if err != nil {
		return "", orNotFound(err)
	}
	if have != InFlight || Alive(s.live, by) {
		return have, nil
	}
	if err := s.diedInTurn(ctx, tx, by); err != nil {
		return "", err
	}
	err = tx.QueryRowContext(ctx, `SELECT state FROM sessions WHERE id = ?`, id).Scan(&have)
	return have, err
}

// diedInTurn puts the sessions that a process left in flight in doubt. The claims stay its own: events that it recorded
// before it died may be folded in later, and settle them (step).
func (s *core) diedInTurn(ctx context.Context, tx *sql.Tx, process string) error {
	type claim struct {
		session, id int64
		from        State
	}
	claims, err := sqlite.Collect(ctx, tx, func(row sqlite.Row) (c claim, err error) {
		err = row.Scan(&c.session, &c.id, &c.from)
		return c, err
	}, `SELECT id, claim, claim_from FROM sessions
		WHERE claim_by = ? AND claim_by <> '' AND state = ?`, process, InFlight)
	if err != nil {
		return err
	}
	for _, c := range claims {
		next, outcome, err := s.nextState(c.session, InFlight, Step{Name: Died, From: c.from})
		if err == nil {
			_, err = tx.ExecContext(ctx, `UPDATE injections SET outcome = ? WHERE id = ?`, outcome, c.id)
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, `UPDATE sessions SET state = ? WHERE id = ?`, next, c.session)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
