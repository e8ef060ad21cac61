// Package worktree gives each delegation a folder of its own to work in: a git work tree with all that stands in the
// caller's folder, committed or not; outside of git a copy. What is written there changes nothing of the caller's until
// the caller takes it.
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

// A Folder is the folder of one delegation.
type Folder struct {
	Cwd string // where the child works, which corresponds to the caller's folder

	root   string // all of it, to be removed
	linked *worktree
	copied *folderCopy
}

// A Result is what was written in a folder.
type Result struct {
	Paths  []string // as git names them, from the top
	Branch string   // the branch that has them, "" for none
	Folder string   // the folder that has them, where there is no branch
}

// work is the name of the folder's part that agents see.
const work = "work"

// Make makes the folder at root, which must not exist yet, for a caller in dir. With a branch the work can be handed
// back on it; git only.
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
		if f.linked, err = repository.addWorktree(ctx, f.Cwd, branch); err == nil {
			var rel string
			if rel, err = filepath.Rel(repository.top, dir); err == nil {
				f.Cwd = filepath.Join(f.Cwd, rel)
				err = os.MkdirAll(f.Cwd, 0o700) // git does not keep empty folders
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

// Finish gives what was written, and removes the folder. With keep the work is handed back: on the branch or, without
// git, in the folder, which then stays.
func (f *Folder) Finish(ctx context.Context, keep bool, message string) (r Result, err error) {
	if f.linked != nil {
		if r.Paths, err = f.linked.changes(ctx, message); err != nil {
			return Result{Folder: f.root}, fmt.Errorf("looking for what was written: %w", err)
		}
		if keep && len(r.Paths) > 0 {
			r.Branch = f.linked.branch
			f.linked.branch = ""
		}
		return r, f.Drop(ctx)
	}
	if r.Paths, err = f.copied.changes(); err != nil {
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
		err = errors.Join(f.linked.main.removeWorktree(ctx, f.linked.own.top), f.linked.dropBranch(ctx))
	}
	return errors.Join(err, os.RemoveAll(f.root))
}

// Discard removes the folder that the killed runner of a caller in dir left at root, and its work tree.
func Discard(ctx context.Context, dir, root string) error {
	var err error
	if repository, ok := repositoryOf(ctx, dir); ok {
		err = repository.removeWorktree(ctx, filepath.Join(root, work))
	}
	return errors.Join(err, os.RemoveAll(root))
}

// Inside reports whether a path, with symbolic links followed as far as it exists, lies in the folder, and not in .git.
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

// Follow gives a path with symbolic links followed as far as it exists.
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
