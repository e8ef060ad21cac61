package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	// Check, if not nil, is called by Finish when something is handed back and the files are still there. What it
	// changes is put back.
	Check func()
	// Keep has Finish leave the files where they are, to be worked at again (Reopen).
	Keep bool

	place
	lock *flock.Flock
	base string // the commit with the files as they were handed on
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

// id is the delegation's, as refs have it.
func (p place) id() string { return strings.ToLower(filepath.Base(p.root)) }

// Tree is all of the folder that the child sees.
func (p place) Tree() string { return filepath.Join(p.root, workName) }

func (p place) save() error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.root, callerName), text, 0o600)
}

// open opens the folder, which others that want to change it wait for until it is closed.
func (p place) open(ctx context.Context) (*Folder, error) {
	ctx, cancel := context.WithTimeout(ctx, lockLimit)
	defer cancel()
	lock := flock.New(filepath.Join(p.root, lockName))
	if locked, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil || !locked {
		return nil, fmt.Errorf("its folder is in use: wait until it ends (%w)", err)
	}
	return &Folder{place: p, lock: lock}, nil
}

// ours returns the place of a folder of a delegation; any other folder is refused.
func ours(folders, root string) (place, error) {
	if filepath.Dir(filepath.Clean(root)) != filepath.Clean(folders) {
		return place{}, fmt.Errorf("%s is not a delegation's folder: those are in %s", root, folders)
	}
	info, err := os.Lstat(root)
	if err != nil {
		return place{}, err
	}
	if !info.IsDir() {
		return place{}, fmt.Errorf("%s is not a folder", root)
	}
	p := place{root: root}
	text, err := os.ReadFile(filepath.Join(root, callerName))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	return p, err
}

// Close lets others work at the folder.
func (f *Folder) Close() error { return f.lock.Close() }

// Drop removes the folder and all that was written there.
func (f *Folder) Drop(ctx context.Context) error {
	var err error
	for _, r := range f.Repositories {
		err = errors.Join(err, r.release(ctx, f.id()))
	}
	if err = errors.Join(err, f.lock.Close()); err != nil { // Windows removes no open file
		return err // the next attempt must find what is to be released
	}
	return removeAll(f.root)
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
