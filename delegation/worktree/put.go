package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
)

// put brings the caller's folder from one tree to another, and returns the files that it has changed. New files are
// prepared beside their places and then moved there, each at once; if one cannot be, all is as before.
func (r *Result) put(ctx context.Context, g git, from, to string) (changed []string, err error) {
	removed, fresh, err := difference(ctx, g, from, to)
	if err != nil || len(removed)+len(fresh) == 0 {
		return nil, err
	}
	root, err := os.OpenRoot(r.Top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	m := &move{root: root, beside: ".signet-" + r.id()}
	if err := root.RemoveAll(m.beside); err != nil { // of an attempt that was killed
		return nil, err
	}
	defer func() { err = errors.Join(err, root.RemoveAll(m.beside)) }()
	if err := root.MkdirAll(path.Join(m.beside, "old"), 0o700); err != nil {
		return nil, err
	}
	if _, err := g.run(ctx, "", "read-tree", to); err != nil {
		return nil, err
	}
	_, err = g.run(ctx, joined(fresh), "checkout-index", "-z", "--stdin", "--prefix="+
		filepath.Join(r.Top, m.beside, "new")+string(filepath.Separator))
	if err != nil {
		return nil, err
	}
	look := newTree(r.Top)
	for name, was := range r.seen {
		if now := look.at(name); now == nil || now.Size() != was.Size() || !now.ModTime().Equal(was.ModTime()) {
			return nil, errors.New(name + " is being changed: try again")
		}
	}
	if err := m.all(removed, fresh); err != nil {
		return nil, errors.Join(err, m.undo())
	}
	changed = slices.Concat(removed, fresh)
	slices.Sort(changed)
	return changed, nil
}

// difference returns the files that are in one tree alone, and those that are new or others in the other one.
func difference(ctx context.Context, g git, from, to string) (removed, fresh []string, err error) {
	raw, err := g.paths(ctx, "diff-tree", "-r", "-z", "--name-status", "--no-renames", from, to)
	for i := 0; i+1 < len(raw); i += 2 {
		name := raw[i+1]
		switch {
		case NamesGit(name):
			return nil, nil, errors.New(name + " may not be named so")
		case raw[i] == "D":
			removed = append(removed, name)
		default:
			fresh = append(fresh, name)
		}
	}
	return removed, fresh, err
}

// A move replaces files of a folder, and can undo it.
type move struct {
	root   *os.Root
	beside string   // the folder in root for new and old files
	done   []string // names that were replaced or removed; the n-th one's file is old(n), if there was one
}

func (m *move) old(n int) string { return path.Join(m.beside, "old", strconv.Itoa(n)) }

func (m *move) all(removed, fresh []string) error {
	for _, name := range removed {
		if err := m.root.Rename(name, m.old(len(m.done))); err != nil {
			return err
		}
		m.done = append(m.done, name)
		for dir := path.Dir(name); dir != "." && m.root.Remove(dir) == nil; dir = path.Dir(dir) {
			continue // git keeps no empty folders
		}
	}
	for _, name := range fresh {
		if err := m.place(name); err != nil {
			return err
		}
	}
	return nil
}

// place moves a new file to its place.
func (m *move) place(name string) error {
	from := path.Join(m.beside, "new", name)
	if err := m.root.MkdirAll(path.Dir(name), 0o777); err != nil { //nolint:gosec // as git does
		return err
	}
	was, err := m.root.Lstat(name)
	switch {
	case err == nil && was.Mode().IsRegular():
		if now, err := m.root.Lstat(from); err == nil && now.Mode().IsRegular() {
			// what others may do with it stays, but for executing
			mode := was.Mode().Perm()&^0o111 | now.Mode().Perm()&0o111
			if err := m.root.Chmod(from, mode); err != nil {
				return err
			}
		}
		err = m.root.Link(name, m.old(len(m.done)))
	case err == nil:
		err = m.root.Rename(name, m.old(len(m.done)))
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err != nil {
		return err
	}
	m.done = append(m.done, name)
	return m.root.Rename(from, name)
}

// undo puts the old files back.
func (m *move) undo() error {
	var failed error
	for i := len(m.done) - 1; i >= 0; i-- {
		name := m.done[i]
		_, err := m.root.Lstat(m.old(i))
		if err == nil {
			err = errors.Join(m.root.MkdirAll(path.Dir(name), 0o777), //nolint:gosec // as git does
				m.root.Rename(m.old(i), name))
		} else if err = m.root.Remove(name); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		failed = errors.Join(failed, err)
	}
	return failed
}
