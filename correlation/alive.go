package correlation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A Lock shows other processes that its process lives. The system releases it when the process ends in any way.
type Lock struct {
	id    string
	flock *flock.Flock
	file  fs.FileInfo // nil: nobody can tell
}

// TakeLock takes the lock of a process id, in folder live, which is made when needed. It needs no database. The error
// is ErrTaken if another process has that id.
func TakeLock(live, id string) (*Lock, error) {
	if err := os.MkdirAll(live, 0o700); err != nil {
		return nil, sqlite.Explain(err)
	}
	l := &Lock{id: id, flock: flock.New(lockFile(live, id), flock.SetPermissions(0o600))}
	locked, err := l.flock.TryLock()
	if err == nil && !locked {
		err = ErrTaken
	}
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", l.flock.Path(), sqlite.Explain(err))
	}
	l.file, _ = l.flock.Stat()
	return l, nil
}

// ID is the process's id.
func (l *Lock) ID() string { return l.id }

// Path is the lock's file.
func (l *Lock) Path() string { return l.flock.Path() }

// Stands reports whether the lock's file is still at its path, or nobody can tell.
func (l *Lock) Stands() bool {
	now, err := os.Lstat(l.flock.Path())
	if err != nil || l.file == nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return os.SameFile(l.file, now)
}

// Release releases the lock and removes its file: the process counts as dead.
func (l *Lock) Release() error {
	// removing it is safe: ids are never used twice
	return errors.Join(l.flock.Unlock(), ignoreMissing(os.Remove(l.flock.Path())))
}

// RemoveLock removes the lock of a process that is dead.
func RemoveLock(live, process string) error { return ignoreMissing(os.Remove(lockFile(live, process))) }

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

const lockSuffix = ".lock"

func lockFile(live, process string) string { return filepath.Join(live, process+lockSuffix) }

// Alive reports whether a process holds its lock in folder live, or nobody can tell: waiting for a dead process costs
// time, but taking over the work of a living one does it twice. It tries a shared lock, so that two processes that ask
// do not take each other for the owner.
func Alive(live, process string) bool {
	if live == "" {
		return true
	}
	probe := flock.New(lockFile(live, process), flock.SetFlag(os.O_RDONLY))
	free, err := probe.TryRLock()
	if free {
		_ = probe.Close()
	}
	return !free && !errors.Is(err, fs.ErrNotExist)
}

// liveSessions returns by id whether a living process holds a session; sessions that none holds may be missing.
func (s *core) liveSessions(ctx context.Context) (map[int64]bool, error) {
	type attachment struct {
		session int64
		process string
	}
	all, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (a attachment, err error) {
		err = row.Scan(&a.session, &a.process)
		return a, err
	}, `SELECT session, process FROM attachments WHERE closed = 0 ORDER BY process`)
	live, processes := make(map[int64]bool), make(map[string]bool)
	for _, a := range all {
		alive, asked := processes[a.process]
		if !asked {
			alive = Alive(s.live, a.process)
			processes[a.process] = alive
		}
		live[a.session] = live[a.session] || alive
	}
	return live, err
}
