// Package worktree gives each delegation a folder of its own to work in: a work tree of git with all that stands in
// the caller's folder, committed or not; outside of git a copy. What is written there changes nothing of the caller's
// until he takes it.
//
// It is no sandbox: a program that means to can leave it.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A Folder is one delegation's.
type Folder struct {
	Cwd string // where the child works: in it the same folder as the caller's

	root   string // all of it, to be removed
	linked *linked
	copied *copied
}

// A Result is what was written.
type Result struct {
	Paths  []string // as git names them, from the top
	Branch string   // that has them, "" for none
	Folder string   // that has them, where no branch can
}

// work is the folder's name inside its root, which is what agents see.
const work = "work"

// Make makes the folder at root, which must not be there yet, for a caller in dir. With a branch it is to be handed
// back.
func Make(ctx context.Context, dir, root, branch string) (*Folder, error) {
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
	f := &Folder{root: root, Cwd: filepath.Join(root, work)}
	if repository, ok := repositoryOf(ctx, dir); ok {
		if f.linked, err = repository.link(ctx, f.Cwd, branch); err == nil {
			var rel string
			if rel, err = filepath.Rel(repository.top, dir); err == nil {
				f.Cwd = filepath.Join(f.Cwd, rel)
				err = os.MkdirAll(f.Cwd, 0o700) // one that git knows nothing of
			}
		}
	} else {
		f.copied, err = copyFolder(ctx, dir, f.Cwd)
	}
	if err != nil {
		return nil, fmt.Errorf("making a folder for it: %w", errors.Join(err, f.Drop(context.WithoutCancel(ctx))))
	}
	return f, nil
}

// TooLarge reports whether Make failed because the folder is too large to be copied.
func TooLarge(err error) bool {
	var large tooLarge
	return errors.As(err, &large)
}

// Finish gives what was written and lets go of the folder. Where it is to be handed back it stands on the branch, or
// without git stays in the folder.
func (f *Folder) Finish(ctx context.Context, keep bool, message string) (r Result, err error) {
	if f.linked != nil {
		if r.Paths, err = f.linked.result(ctx, message); err != nil {
			return Result{Folder: f.root}, fmt.Errorf("looking for what was written: %w", err)
		}
		if keep && len(r.Paths) > 0 {
			r.Branch = f.linked.branch
			f.linked.branch = ""
		}
		return r, f.Drop(ctx)
	}
	if r.Paths, err = f.copied.result(); err != nil {
		return Result{Folder: f.root}, fmt.Errorf("looking for what was written: %w", err)
	}
	if keep && len(r.Paths) > 0 {
		r.Folder = f.Cwd
		return r, nil
	}
	return r, f.Drop(ctx)
}

// Drop removes the folder and all that was written there.
func (f *Folder) Drop(ctx context.Context) error {
	var err error
	if f.linked != nil {
		err = errors.Join(f.linked.main.unlink(ctx, f.linked.own.top), f.linked.dropBranch(ctx))
	}
	return errors.Join(err, os.RemoveAll(f.root))
}

// Discard removes a folder that a process which was killed has left, and its work tree.
func Discard(ctx context.Context, dir, root string) error {
	var err error
	if repository, ok := repositoryOf(ctx, dir); ok {
		err = repository.unlink(ctx, filepath.Join(root, work))
	}
	return errors.Join(err, os.RemoveAll(root))
}

// Inside reports whether a path, with its links followed as far as it exists, lies in the folder.
func (f *Folder) Inside(path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.Cwd, path)
	}
	top, err := filepath.EvalSymlinks(filepath.Join(f.root, work))
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(top, Follow(path))
	return err == nil && filepath.IsLocal(rel) && rel != ".git"
}

// Follow gives a path with its links followed as far as it exists.
func Follow(path string) string {
	path = filepath.Clean(path)
	rest := ""
	for dir := path; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if filepath.Dir(dir) == dir {
			return path
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}
