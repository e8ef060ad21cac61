// Package worktree gives each delegation a folder of its own to work in, with all that stands in the caller's folder,
// committed or not, and takes back what was written there.
//
// Below the folder's root lie
//
//	work    what the child sees: copies of the files and, where the caller has one, a git repository of its own, which
//	        borrows the caller's objects and shares nothing else with it
//	git     our own repository, out of the child's reach: the files as they were handed on, and as they came back
//	caller  where the caller's folder is
//	lock    held by the process that works at the folder
//
// Nothing is written into the caller's repository but the ref refs/signet/ID, which keeps the borrowed objects from
// being collected as garbage. What came back changes nothing of the caller's until Result.Apply.
//
// What keeps the child in its folder is not part of this package.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Options of a folder.
type Options struct {
	// Edit says that what is written is to be taken back. Without it, it is only named.
	Edit bool
	// Copy names what the child is to have although git ignores it, as in .gitignore: node_modules, .env.test.
	Copy []string
	// Prepare, if not nil, is called before the child works, to install what it needs. What it writes counts as there
	// before.
	Prepare func(ctx context.Context, f *Folder) error
}

// Make makes the folder at root, which must not exist yet, for a caller in dir. The last element of root is the
// delegation's id.
func Make(ctx context.Context, dir, root string, o Options) (*Folder, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("finding the caller's folder: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(root), 0o700); err != nil {
		return nil, err
	}
	if err := os.Mkdir(root, 0o700); err != nil {
		return nil, err
	}
	f, err := place{Top: dir, Edit: o.Edit, root: root}.open(ctx)
	if err != nil {
		return nil, errors.Join(err, removeAll(root))
	}
	if err := f.make(ctx, dir, o); err != nil {
		return nil, fmt.Errorf("making a folder for it: %w", errors.Join(err, f.Drop(context.WithoutCancel(ctx))))
	}
	return f, nil
}

func (f *Folder) make(ctx context.Context, dir string, o Options) error {
	format, user := "sha1", map[string]string{}
	if r, ok := repositoryOf(ctx, dir); ok {
		f.Top, format, user = r.Top, r.Format, r.userSettings(ctx)
	}
	l := &listing{tree: newTree(f.Top)}
	if err := l.folder(ctx, ""); err != nil {
		return err
	}
	ignored, err := l.ignored(ctx, o.Copy)
	if err != nil {
		return err
	}
	if f.Below, err = filepath.Rel(f.Top, dir); err != nil {
		return err
	}
	f.Repositories = l.repositories
	if err := f.save(); err != nil {
		return err
	}
	for _, r := range f.Repositories {
		if err := r.hold(ctx, f.id()); err != nil {
			return err
		}
	}
	f.Cwd = filepath.Join(f.Tree(), f.Below)
	for _, name := range append(l.folders, f.Below) { // git does not list empty folders
		if err := os.MkdirAll(filepath.Join(f.Tree(), name), 0o700); err != nil {
			return err
		}
	}
	if err := f.makeStore(ctx, format, l.excludes); err != nil {
		return err
	}
	if err := copyFiles(ctx, l.tree, f.Tree(), slices.Concat(l.files, ignored)); err != nil {
		return err
	}
	for _, r := range f.Repositories {
		if err := r.cloneInto(ctx, filepath.Join(f.Tree(), r.Path), user); err != nil {
			return err
		}
	}
	return f.snapshotBase(ctx, l.files, o.Prepare)
}

// written says what was.
type written struct {
	Paths    []string // from the top
	Branch   string   // in our own repository, "" for none
	NotTaken []string // what was not taken back, and why
}

// Finish returns what was written. Where it is to be taken back and there is something, it is kept until it is
// discarded (Open); the files that the child saw are removed, unless Keep says otherwise. With an error all stays as it
// is, until it is discarded.
func (f *Folder) Finish(ctx context.Context, message string) (w written, err error) {
	if w, err = f.take(ctx, message); err != nil {
		return w, fmt.Errorf("looking for what was written: %w", errors.Join(err, f.lock.Close()))
	}
	if f.Check != nil && w.Branch != "" {
		if f.Check(); f.Keep {
			err = f.Restore(ctx)
		}
	}
	switch {
	case f.Keep:
		return w, errors.Join(err, f.lock.Close())
	case w.Branch == "":
		return w, f.Drop(ctx)
	}
	return w, errors.Join(f.forgetTree(ctx), f.lock.Close())
}

// take stores what was written, if it is to be taken back.
func (f *Folder) take(ctx context.Context, message string) (w written, err error) {
	names, err := f.git().paths(ctx, "ls-files", "-z", "--cached") // those that were handed on
	if err != nil {
		return w, err
	}
	found, left, err := f.added(ctx, "")
	if err != nil {
		return w, err
	}
	tree, more, err := f.snapshot(ctx, append(names, found...))
	if err != nil {
		return w, err
	}
	w.NotTaken = append(left, more...)
	w.Paths, err = f.git().paths(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", f.base, tree)
	if err != nil || !f.Edit || len(w.Paths) == 0 {
		return w, err
	}
	w.Branch = "signet/" + f.id()
	return w, f.keep(ctx, tree, message)
}
