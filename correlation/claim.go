package correlation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A StateError is an ErrStateChanged that says what the state is instead.
type StateError struct{ Have State }

func (e *StateError) Error() string { return fmt.Sprintf("%v: it is %q", ErrStateChanged, e.Have) }
func (e *StateError) Unwrap() error { return ErrStateChanged }

// Claim moves a session from one of the states in from to in flight (Sent), in the name of process, and records inj
// (whose Session, At and Outcome it sets) in one transaction; of two processes one wins. A claim of a process that died
// in the turn counts as doubt. Errors: a *StateError (ErrStateChanged), ErrNotFound, or ErrIllegalStep for a state that
// nothing is sent in.
func (s *Store) Claim(ctx context.Context, id int64, from []State, process string, inj Injection) (int64, error) {
	if process == "" {
		return 0, errors.New("claiming a session: a claim needs a process")
	}
	var ledger int64
	err := writeOver(ctx, s.claims, "claiming a session", func(tx *sql.Tx) error {
		have, err := s.freshState(ctx, tx, id)
		if err != nil {
			return err
		}
		if !slices.Contains(from, have) {
			return &StateError{have}
		}
		next, outcome, err := s.on(id, have, Event{Name: Sent})
		if err != nil {
			return err
		}
		now := s.now()
		inj.Session, inj.At, inj.Outcome = id, now, outcome
		if ledger, err = insertInjection(ctx, tx, inj); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE sessions SET state = ?, claim = ?, claim_by = ?, claim_from = ?,
			last_active = ? WHERE id = ?`,
			next, ledger, process, have, sqlite.Stamp(now), id)
		return err
	})
	if err != nil {
		return 0, err // what the transaction numbered is rolled back
	}
	return ledger, nil
}

// Step does what an event does to a session, if the session is in one of the states in from (nil: in any). What settles
// a claim (Answered, Refused, Failed, Died) does so only for the process that made it, and takes the state that the
// claim was made in from the ledger. A block is sent with Claim. It gives the state that the session is in then.
// Errors: a *StateError (ErrStateChanged), ErrIllegalStep, which is logged, or ErrNotFound.
func (s *Store) Step(ctx context.Context, id int64, process string, from []State, e Event) (State, error) {
	var next State
	err := s.write(ctx, "changing a session's state", func(tx *sql.Tx) (err error) {
		next, err = s.step(ctx, tx, id, process, from, e)
		return err
	})
	return next, err
}

func (s *Store) step(ctx context.Context, tx *sql.Tx, id int64, process string, from []State, e Event) (State, error) {
	have, err := s.freshState(ctx, tx, id)
	if err != nil {
		return "", err
	}
	var claim int64
	var by string
	if err := tx.QueryRowContext(ctx, `SELECT claim, claim_by, claim_from FROM sessions WHERE id = ?`,
		id).Scan(&claim, &by, &e.From); err != nil {
		return "", err
	}
	if e.settles() && have == Doubt && by == process {
		have = InFlight // it was taken for dead before this was read
	}
	if from != nil && !slices.Contains(from, have) || e.settles() && (have != InFlight || by != process) {
		return have, &StateError{have}
	}
	if e.Name == Sent {
		return have, s.illegal(id, have, e)
	}
	next, outcome, err := s.on(id, have, e)
	if err != nil {
		return have, err
	}
	return next, setState(ctx, tx, id, claim, next, outcome, s.now())
}

// settles reports whether an event ends a claim.
func (e Event) settles() bool {
	switch e.Name {
	case Answered, Refused, Failed, Died:
		return true
	}
	return false
}

// on asks the table of states, and reports a step that is not in it.
func (s *Store) on(id int64, have State, e Event) (State, Outcome, error) {
	next, outcome, ok := have.On(e)
	if !ok {
		return have, Unsettled, s.illegal(id, have, e)
	}
	return next, outcome, nil
}

func (s *Store) illegal(id int64, have State, e Event) error {
	err := &StepError{have, e.Name}
	s.log.Error().Int64("session", id).Str("state", string(have)).Str("event",
		string(e.Name)).Msg("this cannot happen in this state; nothing was changed")
	return err
}

// setState writes what a step led to. An outcome is that of the newest claim.
func setState(ctx context.Context, tx *sql.Tx, id, claim int64, next State, outcome Outcome, now time.Time) error {
	if outcome != Unsettled {
		if _, err := tx.ExecContext(ctx, `UPDATE injections SET outcome = ? WHERE id = ?`, outcome, claim); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `UPDATE sessions SET state = ?1, claim_by = iif(?1 = ?2, claim_by, ''),
		last_active = max(last_active, ?3) WHERE id = ?4`,
		next, InFlight, sqlite.Stamp(now), id)
	return err
}

// State gives the state that a session is in now, or ErrNotFound. A claim of a process that died in the turn is put in
// doubt on the way.
func (s *Store) State(ctx context.Context, id int64) (State, error) {
	var have State
	var by string
	err := s.db.QueryRowContext(ctx, `SELECT state, claim_by FROM sessions WHERE id = ?`, id).Scan(&have, &by)
	if err == nil && (have != InFlight || s.alive(by)) {
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
	if err := s.diedInTurn(ctx, tx, by); err != nil {
		return "", err
	}
	err = tx.QueryRowContext(ctx, `SELECT state FROM sessions WHERE id = ?`, id).Scan(&have)
	return have, err
}

// diedInTurn puts what a process has in flight in doubt. The claim stays its own: what it wrote down before it died may
// be read later, and settles it (step).
func (s *Store) diedInTurn(ctx context.Context, tx *sql.Tx, process string) error {
	type claim struct {
		session, id int64
		from        State
	}
	claims, err := sqlite.Collect(ctx, tx, func(row sqlite.Row) (c claim, err error) {
		err = row.Scan(&c.session, &c.id, &c.from)
		return c, err
	}, `SELECT id, claim, claim_from FROM sessions WHERE claim_by = ? AND claim_by <> ''
		AND state = ?`, process, InFlight)
	if err != nil {
		return err
	}
	for _, c := range claims {
		next, outcome, err := s.on(c.session, InFlight, Event{Name: Died, From: c.from})
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE injections SET outcome = ? WHERE id = ?`, outcome, c.id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE sessions SET state = ? WHERE id = ?`, next, c.session); err != nil {
			return err
		}
	}
	return nil
}
