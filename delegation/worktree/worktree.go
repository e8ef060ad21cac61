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
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Names below a root.
const (
	workName   = "work"
	storeName  = "git"
	callerName = "caller"
	lockName   = "lock"
)

// A Folder is the folder of one delegation while it is worked in.
type Folder struct {
	Cwd string // where the child works, which corresponds to the caller's folder
	// Reads are folders outside of the child's own that its git reads: the object stores of the caller.
	Reads []string
	// Keep has Finish leave the files where they are, to be worked at again (Reopen).
	Keep bool

	place
	store git
	lock  *flock.Flock
	base  string // the commit with the files as they were handed on
}

// A place is where a delegation's folder is and where it came from. It is stored at root/caller.
type place struct {
	Top          string       // the caller's folder, of a repository its top
	Below        string       // the caller's folder below that
	Repositories []repository // those in it
	Edit         bool         // what was written is to be taken back
	root         string
}

// lockLimit is how long a folder that another process works at is waited for.
const lockLimit = 10 * time.Second

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
	f := &Folder{place: place{Top: dir, Edit: o.Edit, root: root}}
	if err := f.make(ctx, dir, o); err != nil {
		return nil, fmt.Errorf("making a folder for it: %w", errors.Join(err, f.Drop(context.WithoutCancel(ctx))))
	}
	return f, nil
}

// Tree returns all of the folder that the child sees.
func (f *Folder) Tree() string { return f.work() }

func (f *Folder) make(ctx context.Context, dir string, o Options) error {
	var err error
	if f.lock, err = f.takeLock(ctx); err != nil {
		return err
	}
	format, user := "sha1", map[string]string{}
	if r, ok := repositoryOf(ctx, dir); ok {
		f.Top, format, user = r.Top, r.Format, r.userSettings(ctx)
	}
	l, err := list(ctx, f.Top)
	if err != nil {
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
	f.Cwd = filepath.Join(f.work(), f.Below)
	for _, name := range append(l.folders, f.Below) { // git does not list empty folders
		if err := os.MkdirAll(filepath.Join(f.work(), name), 0o700); err != nil {
			return err
		}
	}
	if err := f.makeStore(ctx, format, l.excludes); err != nil {
		return err
	}
	if err := f.fill(ctx, l.tree, slices.Concat(l.files, ignored), user); err != nil {
		return err
	}
	if o.Prepare != nil {
		if err := o.Prepare(ctx, f); err != nil {
			return err
		}
	}
	return f.snapshotBase(ctx, l.files, o.Prepare != nil)
}

// fill copies files, and makes the child's repositories.
func (f *Folder) fill(ctx context.Context, from *tree, names []string, user map[string]string) error {
	if err := copyFiles(ctx, from, f.work(), names); err != nil {
		return err
	}
	for _, r := range f.Repositories {
		if err := r.cloneInto(ctx, filepath.Join(f.work(), r.Path), user); err != nil {
			return err
		}
	}
	return nil
}

// id is the delegation's, as refs have it.
func (p place) id() string { return strings.ToLower(filepath.Base(p.root)) }

// work is the part of the folder that the child sees.
func (p place) work() string { return filepath.Join(p.root, workName) }

func (p place) save() error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.root, callerName), text, 0o600)
}

// placeAt reads what save has written.
func placeAt(root string) (place, error) {
	p := place{root: root}
	text, err := os.ReadFile(filepath.Join(root, callerName))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	return p, err
}

// takeLock makes others that want to change the folder wait for us.
func (p place) takeLock(ctx context.Context) (*flock.Flock, error) {
	ctx, cancel := context.WithTimeout(ctx, lockLimit)
	defer cancel()
	lock := flock.New(filepath.Join(p.root, lockName))
	if locked, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil || !locked {
		return nil, fmt.Errorf("its folder is being worked at: wait until it has ended (%w)", err)
	}
	return lock, nil
}

// TooLarge reports whether Make failed because the folder is too large to be copied.
func TooLarge(err error) bool {
	var large tooLarge
	return errors.As(err, &large)
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
	switch {
	case f.Keep:
		return w, f.lock.Close()
	case w.Branch == "":
		return w, f.Drop(ctx)
	}
	return w, errors.Join(f.forgetTree(ctx), f.lock.Close())
}

// take stores what was written, if it is to be taken back.
func (f *Folder) take(ctx context.Context, message string) (w written, err error) {
	tree, left, err := f.snapshotResult(ctx)
	if err != nil {
		return w, err
	}
	w.NotTaken = left
	w.Paths, err = f.store.paths(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", f.base, tree)
	if err != nil || !f.Edit || len(w.Paths) == 0 {
		return w, err
	}
	w.Branch = "signet/" + f.id()
	return w, f.keep(ctx, tree, message)
}

// Drop removes the folder and all that was written there.
func (f *Folder) Drop(ctx context.Context) error { return f.drop(ctx, f.lock) }

// drop removes the folder, which lock keeps others from.
func (p place) drop(ctx context.Context, lock *flock.Flock) error {
	var err error
	for _, r := range p.Repositories {
		err = errors.Join(err, r.release(ctx, p.id()))
	}
	if lock != nil {
		err = errors.Join(err, lock.Close()) // Windows removes no open file
	}
	if err != nil {
		return err // the next attempt must find what is to be released
	}
	return removeAll(p.root)
}

// removeAll removes a folder, also one in which somebody has made folders that cannot be written to.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(name, 0o700) //nolint:gosec // a folder that is about to be removed
		}
		return nil
	})
	return os.RemoveAll(dir)
}
