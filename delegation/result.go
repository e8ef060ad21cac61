package delegation

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
)

// What a child has written comes back with the end of its run (run.takeBack), and is kept until it is discarded. The
// errors are worktree's.

func (s *Service) result(ctx context.Context, d Delegation) (*worktree.Result, error) {
	if err := resultKept(d); err != nil {
		return nil, err
	}
	return worktree.Open(ctx, s.Ledger.folders, d.Folder)
}

// resultKept says why there is nothing of a delegation to be looked at.
func resultKept(d Delegation) error {
	switch {
	case !d.State.Ended():
		return errors.New("still running: wait for it, or cancel it")
	case d.ContinuedBy != "":
		return fmt.Errorf("%w under this id: it was continued in %s", worktree.ErrNothing, d.ContinuedBy)
	case d.Folder == "":
		return worktree.ErrNothing
	}
	return nil
}

// Stat says which files were changed, and how much, and whether that was applied; "" where there is nothing.
func (s *Service) Stat(ctx context.Context, d Delegation) (stat string, applied bool, err error) {
	if !d.State.Ended() {
		return "", false, nil
	}
	r, err := s.result(ctx, d)
	switch {
	case errors.Is(err, worktree.ErrNothing):
		return "", false, nil
	case err != nil:
		return "", false, err
	}
	stat, err = r.Stat(ctx)
	return stat, r.Applied(ctx), err
}

// Diff writes the changes as a patch.
func (s *Service) Diff(ctx context.Context, d Delegation, out io.Writer) error {
	r, err := s.result(ctx, d)
	if err != nil {
		return err
	}
	return r.Diff(ctx, out)
}

// Apply puts the changes into the caller's folder, all or none, and returns the files that it has written. checked
// refuses changes that no check has passed.
func (s *Service) Apply(ctx context.Context, d Delegation, checked bool, o worktree.ApplyOptions) (
	[]string, []worktree.Held, error) {
	r, err := s.result(ctx, d)
	if err == nil && checked {
		err = d.mustPass()
	}
	if err != nil {
		return nil, nil, err
	}
	files, held, err := r.Apply(ctx, o)
	if err != nil || !r.Applied(ctx) {
		return files, held, err
	}
	return files, nil, s.Ledger.removeTree(ctx, d)
}

// mustPass says why a result counts as not checked.
func (d Delegation) mustPass() error {
	switch {
	case d.Check == nil:
		return fmt.Errorf("it was not checked: delegations check %s -- COMMAND", d.ID)
	case d.Check.Exit != 0:
		return fmt.Errorf("its check failed (%s): see delegations show %s", d.Check, d.ID)
	}
	return nil
}

// Discard throws away the changes, and the folder that has them.
func (s *Service) Discard(ctx context.Context, d Delegation) error {
	switch {
	case !d.State.Ended():
		return errors.New("still running: cancel it first")
	case d.Folder == "" && d.Tree == "":
		return nil
	}
	return s.Ledger.Discard(ctx, d)
}
