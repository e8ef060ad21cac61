package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// put brings the caller's folder from one tree to another, and returns the files that it has changed. New files are
// prepared beside their places and then moved there, each at once. If one cannot be, or is not any more what it was
// when the trees were made, all is as before.
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
	m := &move{root: root, beside: beside(r.id(), slices.Concat(removed, fresh)), seen: r.seen}
	if err := root.RemoveAll(m.beside); err != nil { // of an attempt that was killed
		return nil, err
	}
	defer func() {
		if !m.needed {
			err = errors.Join(err, root.RemoveAll(m.beside))
		}
	}()
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
	if err := m.all(removed, fresh); err != nil {
		return nil, m.takeBack(err)
	}
	changed = slices.Concat(removed, fresh)
	slices.Sort(changed)
	return changed, nil
}

// beside returns the name of a folder in the caller's that none of the files is in, whatever they are called.
func beside(id string, names []string) string {
	name := ".signet-" + id
	for slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, name) }) {
		name += "-"
	}
	return name
}

// difference returns the files that are in one tree alone, and those that are new or others in the other one.
func difference(ctx context.Context, g git, from, to string) (removed, fresh []string, err error) {
	changed, err := g.changes(ctx, from, to)
	for _, c := range changed {
		switch {
		case NamesGit(c.name):
			return nil, nil, errors.New(c.name + " has a name that is not allowed")
		case c.removed:
			removed = append(removed, c.name)
		default:
			fresh = append(fresh, c.name)
		}
	}
	return removed, fresh, err
}

// A move replaces files of a folder, and can undo it. Whoever saves one of them meanwhile keeps what was saved.
type move struct {
	root   *os.Root
	beside string                 // the folder in root for new and old files
	seen   map[string]fs.FileInfo // files as they were when the trees were made; a name without one was free
	names  []string
	done   []fs.FileInfo // what we have put at names so far, nil for nothing; what was there is at old(n)
	made   []string      // folders
	needed bool          // beside has files that could not be put back
}

var errChanged = errors.New("a file was changed meanwhile")

func (m *move) old(n int) string { return path.Join(m.beside, "old", strconv.Itoa(n)) }

func (m *move) all(removed, fresh []string) error {
	m.names = slices.Concat(removed, fresh)
	for n, name := range m.names {
		do := m.place
		if n < len(removed) {
			do = m.remove
		}
		if err := do(name, m.old(n)); err != nil {
			return err
		}
	}
	if len(m.changed()) > 0 { // one that was removed, or saved into just when it was replaced
		return errChanged
	}
	return nil
}

// changed returns the files that are not any more what they were when the trees were made.
func (m *move) changed() (names []string) {
	for n, name := range m.names {
		at := name
		if n < len(m.done) {
			at = m.old(n)
		}
		if !same(m.at(at), m.seen[name]) {
			names = append(names, name)
		}
	}
	return names
}

// at returns what stands at a name, nil for nothing.
func (m *move) at(name string) fs.FileInfo {
	info, err := m.root.Lstat(name)
	if err != nil {
		return nil
	}
	return info
}

// same reports whether a file is still the one that it was, and nobody has written it.
func same(now, was fs.FileInfo) bool {
	if now == nil || was == nil {
		return now == nil && was == nil
	}
	return os.SameFile(now, was) && now.Size() == was.Size() && now.ModTime().Equal(was.ModTime())
}

func (m *move) remove(name, old string) error {
	if err := m.root.Rename(name, old); err != nil {
		return err
	}
	m.done = append(m.done, nil)
	for dir := path.Dir(name); dir != "." && m.root.Remove(dir) == nil; dir = path.Dir(dir) {
		continue // git keeps no empty folders
	}
	return nil
}

// place moves a new file to its place.
func (m *move) place(name, old string) error {
	from := path.Join(m.beside, "new", name)
	for dir := path.Dir(name); m.at(dir) == nil; dir = path.Dir(dir) {
		m.made = append(m.made, dir)
	}
	if err := m.root.MkdirAll(path.Dir(name), 0o777); err != nil { //nolint:gosec // as git does
		return err
	}
	now, err := m.root.Lstat(from)
	if err != nil {
		return err
	}
	at := name // where what is replaced stands
	was, err := m.root.Lstat(name)
	switch {
	case err == nil && was.Mode().IsRegular():
		if now.Mode().IsRegular() {
			// what others may do with it stays, but for executing
			mode := was.Mode().Perm()&^0o111 | now.Mode().Perm()&0o111
			if err := m.root.Chmod(from, mode); err != nil {
				return err
			}
		}
		err = m.root.Link(name, old)
	case err == nil:
		err, at = m.root.Rename(name, old), old
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err != nil {
		return err
	}
	m.done = append(m.done, nil)
	if !same(m.at(at), m.seen[name]) {
		return errChanged
	}
	if err := m.root.Rename(from, name); err != nil {
		return err
	}
	m.done[len(m.done)-1] = now
	return nil
}

// takeBack puts the old files back, and returns why, with the files that are not as they were: those that somebody has
// saved stay so.
func (m *move) takeBack(why error) error {
	if names := m.changed(); len(names) > 0 {
		why = fmt.Errorf("changed meanwhile, and left unchanged: %s; try again", strings.Join(names, ", "))
	}
	saved, left, err := m.undo()
	if m.needed = len(left) > 0; m.needed {
		return fmt.Errorf("only partly applied. %w. Not restored: %s (the originals are in %s): %w", why,
			strings.Join(left, ", "), path.Join(m.beside, "old"), err)
	}
	if len(saved) > 0 {
		why = fmt.Errorf("%w; saved meanwhile, and left unchanged: %s", why, strings.Join(saved, ", "))
	}
	return fmt.Errorf("nothing was applied: %w", why)
}

// undo puts the old files back. saved are those that somebody has saved since they were replaced, and left those that
// could not be put back.
func (m *move) undo() (saved, left []string, failed error) {
	for n := len(m.done) - 1; n >= 0; n-- {
		name, old := m.names[n], m.at(m.old(n))
		now := m.at(name)
		var err error
		switch {
		case old != nil && now != nil && os.SameFile(old, now): // it was not replaced yet
		case !same(now, m.done[n]):
			saved = append(saved, name)
		case old != nil:
			err = errors.Join(m.root.MkdirAll(path.Dir(name), 0o777), //nolint:gosec // as git does
				m.root.Rename(m.old(n), name))
		case now != nil:
			err = m.root.Remove(name)
			for dir := path.Dir(name); slices.Contains(m.made, dir) && m.root.Remove(dir) == nil; dir = path.Dir(dir) {
				continue
			}
		}
		if err != nil {
			failed, left = errors.Join(failed, err), append(left, name)
		}
	}
	return saved, left, failed
}
