package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Reopen opens a folder that Finish has kept, to be worked at again. What it has handed back is then what differs from
// the files as they were handed on at first.
func Reopen(ctx context.Context, folders, root string) (*Folder, error) {
	f, err := OpenTree(ctx, folders, root)
	if err != nil {
		return nil, err
	}
	for _, ref := range []string{resultRef, appliedRef, "refs/heads/signet/" + f.id()} {
		if _, err := f.git().run(ctx, "", "update-ref", "-d", ref); err != nil {
			return nil, fmt.Errorf("opening its folder again: %w", errors.Join(err, f.lock.Close()))
		}
	}
	return f, nil
}

// OpenTree opens a folder that Finish has kept, to look at its files: Restore puts back what that changes. The caller
// closes it.
func OpenTree(ctx context.Context, folders, root string) (*Folder, error) {
	p, err := ours(folders, root)
	if err != nil {
		return nil, fmt.Errorf("opening its folder again: %w", err)
	}
	f, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	f.Cwd = filepath.Join(f.Tree(), f.Below)
	if _, err = os.Stat(f.Tree()); err == nil {
		f.base, err = f.git().run(ctx, "", "rev-parse", "--verify", baseRef)
	}
	if err != nil {
		return nil, fmt.Errorf("opening its folder again: %w", errors.Join(err, f.lock.Close()))
	}
	return f, nil
}

// Restore puts the files back as Finish has stored them, but for what git ignores.
func (f *Folder) Restore(ctx context.Context) error {
	made, _, err := f.added(ctx, "")
	if err != nil {
		return err
	}
	work, err := os.OpenRoot(f.Tree())
	if err != nil {
		return err
	}
	defer work.Close()
	for _, name := range made {
		err = errors.Join(err, work.Remove(name))
	}
	_, failed := f.git().run(ctx, "", "checkout-index", "--all", "--force", "--quiet")
	return errors.Join(err, failed)
}

// RemoveTree removes the files that Finish has kept. left says that changes are: they stay, until they are discarded.
func RemoveTree(ctx context.Context, folders, root string) (left bool, err error) {
	p, err := ours(folders, root)
	if err != nil {
		return true, err
	}
	f, err := p.open(ctx)
	if err != nil {
		return true, err
	}
	if _, err = f.git().run(ctx, "", "rev-parse", "--quiet", "--verify", resultRef); err != nil {
		return false, f.Drop(ctx)
	}
	if f.base, err = f.git().run(ctx, "", "rev-parse", "--verify", baseRef); err == nil {
		err = f.forgetTree(ctx)
	}
	return true, errors.Join(err, f.lock.Close())
}

// forgetTree removes the files that the child saw. What it has changed is kept.
func (f *Folder) forgetTree(ctx context.Context) error {
	return errors.Join(f.forgetUnchanged(ctx), removeAll(f.Tree()))
}
