package delegation

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A Service starts delegations for the tools of a session and the command line, and says how they are getting on.
type Service struct {
	Ledger *Ledger
	// Known returns the agents that there are, as far as the configuration and the system know them.
	Known func(ctx context.Context) ([]Agent, error)
	// Canonical returns the one name of an agent that may have several.
	Canonical func(name string) string
	// Unbounded has agents asked also where nothing keeps them to their folder.
	Unbounded bool
	// Start starts a runner that outlives us, and gives it the task word for word: the row has it without secrets.
	Start func(d Delegation, task string) error
}

// lookEvery is how often Wait reads the row.
const lookEvery = 100 * time.Millisecond

// Delegate starts a delegation, or returns the one that the same request started before; fresh says which. Errors are
// for the caller to read.
func (s *Service) Delegate(ctx context.Context, who Caller, r Request) (d Delegation, fresh bool, err error) {
	if r.Continues != "" {
		if err := s.followUp(ctx, &who, &r); err != nil {
			return d, false, err
		}
	}
	if err := r.check(); err != nil {
		return d, false, err
	}
	agents, err := s.Agents(ctx)
	if err != nil {
		return d, false, err
	}
	r.Kind = kindOf(r, agents)
	if r.Agent, err = s.choose(agents, r, s.Canonical(who.Harness)); err != nil {
		return d, false, err
	}
	if who.Turn, err = s.Ledger.sessions.OpenTurn(ctx, who.Key); err != nil {
		return d, false, err
	}
	if d, fresh, err = s.Ledger.Create(ctx, who, r); err != nil || !fresh {
		return d, fresh, err
	}
	if err := s.Start(d, r.Task); err != nil {
		err = fmt.Errorf("its runner could not be started: %w", err)
		return d, true, errors.Join(err, s.Ledger.endWithout(ctx, d, Failed, err.Error()))
	}
	return d, true, nil
}

// followUp finds the delegation that a request continues, and puts in what is as it was there.
func (s *Service) followUp(ctx context.Context, who *Caller, r *Request) error {
	first, err := s.find(ctx, *who, r.Continues)
	if err != nil {
		return err
	}
	agent := s.Canonical(cmp.Or(r.Agent, first.Agent))
	switch {
	case agent != first.Agent:
		return fmt.Errorf("a follow-up goes to the same agent, %s: omit agent", first.Agent)
	case r.Mode != "" && r.Mode != first.Mode:
		return fmt.Errorf("a follow-up has the same mode, %s: omit mode, or delegate again", first.Mode)
	}
	r.Continues, r.Agent, r.Mode = first.ID, agent, first.Mode
	r.Scope, r.Kept = cmp.Or(r.Scope, first.Scope), cmp.Or(r.Kept, first.Kept)
	who.Cwd, who.Project = first.Cwd, first.Project
	return nil
}

// Wait waits until a delegation has ended, at most for limit, and returns it as it stands. progress, if not nil, is
// called when there is something new.
func (s *Service) Wait(ctx context.Context, id string, limit time.Duration,
	progress func(Delegation)) (Delegation, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	last := ""
	var d Delegation
	for {
		now, err := s.Ledger.Get(context.WithoutCancel(ctx), id)
		switch {
		case err != nil:
			return d, err
		case now.State.Ended():
			return now, s.Ledger.Settle(context.WithoutCancel(ctx))
		}
		if d = now; progress != nil && d.Progress != last {
			last = d.Progress
			progress(d)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return d, nil
		}
	}
}

// find returns a delegation that a caller may see: its own, one that was asked inside the delegation that it works for,
// or as a person any.
func (s *Service) find(ctx context.Context, who Caller, id string) (Delegation, error) {
	d, err := s.Ledger.Get(ctx, strings.TrimSpace(id))
	if err == nil && who.Inside != "" && d.Inside != who.Inside {
		err = ErrNotFound
	}
	if err == nil && who.Inside == "" && !who.Person && d.Key != who.Key {
		var keys []string
		if keys, err = s.Ledger.sessions.KeysOnwards(ctx, d.Key); err == nil && !slices.Contains(keys, who.Key) {
			err = ErrNotFound
		}
	}
	if err != nil {
		return Delegation{}, fmt.Errorf("%w: delegate gave you one that you can use", err)
	}
	return d, nil
}

// byUser is the reason of what a person has ended, as agents are told.
const byUser = "the user cancelled it"

// ForUser returns a delegation's reason as the user reads it.
func ForUser(reason string) string {
	if reason == byUser {
		return "cancelled by you"
	}
	return reason
}

// Cancel ends a delegation and waits, at most 5 s, until it has ended.
func (s *Service) Cancel(ctx context.Context, who Caller, id string) (Delegation, error) {
	d, err := s.find(ctx, who, id)
	if err != nil || d.State.Ended() {
		return d, err
	}
	why := "its caller cancelled it"
	if who.Person && who.Inside == "" {
		why = byUser
	}
	if err := s.Ledger.cancel(ctx, d.ID, why); err != nil {
		return d, err
	}
	return s.Wait(ctx, d.ID, 5*time.Second, nil)
}

// Judge stores what a caller thinks of a result, -1 to 1.
func (s *Service) Judge(ctx context.Context, who Caller, id string, verdict float64, note string) error {
	if !(verdict >= -1 && verdict <= 1) {
		return errors.New("verdict must be a number from -1 (harmful) to 1 (helpful)")
	}
	d, err := s.find(ctx, who, id)
	switch {
	case err != nil:
		return err
	case !d.State.Ended():
		return errors.New("still running: wait for it first (delegation_wait)")
	}
	return sqlite.Write(ctx, s.Ledger.db, "keeping a verdict", func(tx *sql.Tx) error {
		return sqlite.MustHit(ctx, tx, ErrNotFound, `UPDATE delegations SET
			result = json_set(result, '$.verdict', ?, '$.note', ?) WHERE id = ?`, verdict, clean(note), d.ID)
	})
}
