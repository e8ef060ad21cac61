package correlation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// A State says whether a session has had its context (design.md, "Sessions").
type State string

const (
	Armed         State = "armed"          // not yet
	IdentityGiven State = "identity given" // identity only; the memories follow with a later prompt
	InFlight      State = "in flight"      // sent, and not answered yet
	Doubt         State = "doubt"          // sent, and nobody knows whether the harness kept it
	Done          State = "done"
	Off           State = "off" // this session wants none
)

// Outcomes of an injection.
const (
	outcomeInFlight = "in flight"
	outcomeKept     = "kept"
	outcomeRefused  = "refused"
	outcomeDoubt    = "doubt"
)

// A StateError is an ErrStateChanged that says what the state is instead.
type StateError struct{ Have State }

func (e *StateError) Error() string { return fmt.Sprintf("%v: it is %q", ErrStateChanged, e.Have) }
func (e *StateError) Unwrap() error { return ErrStateChanged }

// Claim moves a session from one of the states in from to in flight, in the name of process, and records inj (whose Session, At and Outcome it sets)
// in one transaction; of two processes one wins. A claim of a process that died in the turn counts as doubt. Errors: a *StateError (ErrStateChanged) or ErrNotFound.
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
			return &StateError{have}
		}
		now := s.now()
		inj.Session, inj.At, inj.Outcome = id, now, outcomeInFlight
		if ledger, err = insertInjection(ctx, tx, inj); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE sessions SET state = ?, claim = ?, claim_by = ?, claim_from = ?, last_active = ? WHERE id = ?`,
			InFlight, ledger, process, have, stamp(now), id)
		return err
	})
	if err != nil {
		return 0, err // what the transaction numbered is rolled back
	}
	return ledger, nil
}

// freshState reads a session's state, having put a claim of a dead process in doubt.
func (s *Store) freshState(ctx context.Context, tx *sql.Tx, id int64) (State, error) {
	var have State
	var by string
	err := tx.QueryRowContext(ctx, `SELECT state, claim_by FROM sessions WHERE id = ?`, id).Scan(&have, &by)
	if err != nil {
		return "", orNotFound(err)
	}
	if have != InFlight || s.alive(by) {
		return have, nil
	}
	if err := doubt(ctx, tx, by); err != nil {
		return "", err
	}
	err = tx.QueryRowContext(ctx, `SELECT state FROM sessions WHERE id = ?`, id).Scan(&have)
	return have, err
}

// doubt puts what a process has in flight in doubt. A session that had its context before stays done: what is in doubt is a recall then.
func doubt(ctx context.Context, tx *sql.Tx, process string) error {
	_, err := tx.ExecContext(ctx, `UPDATE injections SET outcome = ? WHERE id IN (SELECT claim FROM sessions WHERE claim_by = ? AND claim_by <> '')`, outcomeDoubt, process)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE sessions SET state = iif(claim_from = ?, claim_from, ?), claim_by = '' WHERE claim_by = ? AND claim_by <> ''`, Done, Doubt, process)
	return err
}

// Settle ends the claim that process made: in flight becomes to. ErrStateChanged: it is not this process's claim any more.
func (s *Store) Settle(ctx context.Context, id int64, process string, to State) error {
	return s.write(ctx, "settling a session", func(tx *sql.Tx) error {
		var ledger int64
		var from State
		err := tx.QueryRowContext(ctx, `UPDATE sessions SET state = ?, claim_by = '', last_active = ? WHERE id = ? AND state = ? AND claim_by = ?
			RETURNING claim, claim_from`, to, stamp(s.now()), id, InFlight, process).Scan(&ledger, &from)
		if err != nil {
			return s.changed(ctx, tx, id, err)
		}
		_, err = tx.ExecContext(ctx, `UPDATE injections SET outcome = ? WHERE id = ?`, outcomeOf(from, to), ledger)
		return err
	})
}

// outcomeOf is what became of a block that was sent in state from when the session is then put in state to.
func outcomeOf(from, to State) string {
	switch {
	case to == Doubt:
		return outcomeDoubt
	case to == Armed, to == IdentityGiven && from == IdentityGiven:
		return outcomeRefused
	}
	return outcomeKept
}

// SetState moves a session that is in one of the states in from (nil: in any) to another, where nothing is sent: a replay that settles doubt, a
// harness that forgot, a session that wants none. To in flight there is only Claim. Errors: a *StateError (ErrStateChanged) or ErrNotFound.
func (s *Store) SetState(ctx context.Context, id int64, from []State, to State) error {
	return s.write(ctx, "changing a session's state", func(tx *sql.Tx) error {
		have, err := s.freshState(ctx, tx, id)
		if err != nil {
			return err
		}
		if from != nil && !slices.Contains(from, have) || to == InFlight {
			return &StateError{have}
		}
		_, err = tx.ExecContext(ctx, `UPDATE injections SET outcome = ? WHERE id = (SELECT claim FROM sessions WHERE id = ?) AND outcome IN (?, ?)`,
			outcomeOf(have, to), id, outcomeInFlight, outcomeDoubt)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE sessions SET state = ?, claim_by = '', last_active = ? WHERE id = ?`, to, stamp(s.now()), id)
		return err
	})
}

// changed explains why a compare-and-set hit no row.
func (s *Store) changed(ctx context.Context, tx *sql.Tx, id int64, err error) error {
	if orNotFound(err) != ErrNotFound {
		return err
	}
	have, err := s.freshState(ctx, tx, id)
	if err != nil {
		return err
	}
	return &StateError{have}
}
