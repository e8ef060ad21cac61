package delegation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/oklog/ulid/v2"

	"github.com/Signet-AI/signet-acp-proxy/delegation/scope"
	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Limits of what one caller may ask for.
const (
	maxAtOnce = 4  // delegations of one session that are under way
	maxInAll  = 20 // delegations of a tree, from the session at its top
	maxDepth  = 2  // how deep they may be nested
)

// Create makes the row of a delegation, or finds the one that the same request made before; fresh says which. A refusal
// makes no row; its text is for the caller.
func (l *Ledger) Create(ctx context.Context, who Caller, r Request) (d Delegation, fresh bool, err error) {
	if err := r.check(); err != nil {
		return d, false, err
	}
	if err := l.Settle(ctx); err != nil {
		return d, false, err
	}
	var refused error
	err = sqlite.Write(ctx, l.db, "noting a delegation", func(tx *sql.Tx) (err error) {
		d = Delegation{ID: ulid.Make().String(), Caller: who, Request: r, Root: who.Key, Depth: 1, State: Queued,
			Created: l.now()}
		if who.Key == "" {
			d.Root = d.ID
		}
		d.IdempotencyKey = idempotencyKey(who, r)
		if refused = l.refuse(ctx, tx, &d); refused != nil {
			return refused
		}
		if before, found, err := earlier(ctx, tx, who.Key, d.IdempotencyKey); err != nil || found {
			d = before
			return err
		}
		if refused = l.checkNumber(ctx, tx, d); refused != nil {
			return refused
		}
		if d.Continues != "" {
			if refused = l.takeOver(ctx, tx, &d); refused != nil {
				return refused
			}
		}
		fresh = true
		if err := insert(ctx, tx, d); err != nil {
			return err
		}
		return l.noteEvent(ctx, tx, d.ID)
	})
	if refused != nil {
		err = refused
	}
	return d, fresh, err
}

// refuse checks a request against the delegation that it is made in, and against the rule of package scope.
func (l *Ledger) refuse(ctx context.Context, tx *sql.Tx, d *Delegation) error {
	check := scope.Request{Delegated: d.Scope, Kept: d.Kept, Dir: d.Cwd, Follow: worktree.Follow}
	if d.Inside != "" {
		outer, err := byID(ctx, tx, d.Inside)
		if err != nil {
			return fmt.Errorf("the delegation that you work for: %w", err)
		}
		if err := l.nest(d, outer); err != nil {
			return err
		}
		check.Caller = outer.Scope
	}
	return check.Check()
}

// checkNumber refuses a delegation past maxAtOnce or maxInAll.
func (l *Ledger) checkNumber(ctx context.Context, tx *sql.Tx, d Delegation) error {
	var now, all int
	err := tx.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE ended = 0 AND caller = ?1 AND parent = ?2),
		count(*) FILTER (WHERE root = ?3) FROM delegations WHERE root = ?3 OR caller = ?1 AND ended = 0`,
		d.Key, d.Inside, d.Root).Scan(&now, &all)
	switch {
	case err != nil:
		return err
	case now >= maxAtOnce:
		return fmt.Errorf("%d delegations are running, which is the maximum: wait for one "+
			"(delegation_wait) or cancel one", now)
	case all >= maxInAll:
		return fmt.Errorf("this session has delegated %d times, which is the maximum: do the rest yourself", all)
	}
	return nil
}

func insert(ctx context.Context, tx *sql.Tx, d Delegation) error {
	d.Scope, d.Kept, d.Task = clean(d.Scope), clean(d.Kept), clean(d.Task)
	d.Model, d.SessionMode = clean(d.Model), clean(d.SessionMode)
	_, err := tx.ExecContext(ctx, `INSERT INTO delegations (id, caller, turn, parent, root, depth, key, agent, state,
		acp_id, folder, tree, continues, created, request) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		d.ID, d.Key, d.Turn, d.Inside, d.Root, d.Depth, d.IdempotencyKey, d.Agent, d.State, d.ACPID, d.Folder, d.Tree,
		d.Continues, sqlite.Stamp(d.Created), column(asked{&d.Caller, &d.Request}))
	return err
}

// nest limits a delegation inside another to what that one leaves it: it shrinks with each agent in a chain.
func (l *Ledger) nest(d *Delegation, outer Delegation) error {
	d.Root, d.Depth = outer.Root, outer.Depth+1
	switch {
	case outer.State != Running || outer.Cancel != "":
		return errors.New("the delegation that you work for is ending: delegate nothing")
	case d.Depth > maxDepth:
		return fmt.Errorf("your task is %d delegations deep, and %d is the maximum: do it yourself, or say in "+
			"your answer what is left", outer.Depth, maxDepth)
	case d.Mode == Edit && outer.Mode != Edit:
		return errors.New("you may only read, and so may your child: omit mode")
	}
	left := outer.Budget
	if left.Seconds > 0 {
		left.Seconds = max(1, left.Seconds-int(l.now().Sub(outer.Started).Seconds()))
	}
	d.Budget, d.Detach = d.Budget.within(left), false
	return nil
}
