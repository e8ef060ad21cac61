package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// ErrInUse says that a process of ours lives, so that the database must stay as it is.
var ErrInUse = errors.New("a session, or the worker that delivers, is alive: end it first (see signet-acp-proxy " +
	"sessions)")

// Backup writes a copy of the database, as it stands now, into a file that is not there yet. Sessions may go on
// meanwhile.
func (d *Data) Backup(ctx context.Context, name string) (err error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s is there already: name a new file", path)
	}
	// SQLite takes an empty file that is there: so nobody else may read it at any moment.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("making the backup: %w", err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(path)
		}
	}()
	_, err = d.DB.ExecContext(ctx, "VACUUM INTO ?", path)
	return sqlite.While("writing the backup", sqlite.Explain(err))
}

// Restore puts a backup in the place of the database, which is kept as FILE.before-restore. No session may live.
func Restore(ctx context.Context, c *config.Config, name string) (kept string, err error) {
	backup, err := migrations.Look(name)
	if err != nil {
		return "", fmt.Errorf("opening the backup: %w", err)
	}
	defer backup.Close()
	var whole string
	if err := backup.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&whole); err != nil {
		return "", fmt.Errorf("%s: %w", name, sqlite.Explain(err))
	}
	missing, err := migrations.Missing(ctx, backup)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", name, err)
	case whole != "ok":
		return "", fmt.Errorf("%s: %w: %s", name, sqlite.ErrCorrupt, whole)
	case len(missing) > 0 && missing[0] == "0001_sessions.sql":
		return "", fmt.Errorf("%s is no backup of ours", name)
	}
	if err := Unused(c); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(c.DB), 0o700); err != nil {
		return "", err
	}
	copied := c.DB + ".restoring"
	_ = os.Remove(copied)
	f, err := os.OpenFile(copied, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	if _, err := backup.ExecContext(ctx, "VACUUM INTO ?", copied); err != nil {
		return "", errors.Join(sqlite.While("copying the backup", sqlite.Explain(err)), os.Remove(copied))
	}
	kept, err = setAside(c.DB)
	if err == nil { // what was removed from that one is not to come back into this one
		err = RemoveUndo(UndoFile(c))
	}
	if err == nil {
		err = os.Rename(copied, c.DB)
	}
	return kept, err
}

// setAside renames a database with what belongs to it; "" where there is none.
func setAside(path string) (kept string, err error) {
	kept = path + ".before-restore"
	for _, ending := range []string{"-wal", "-shm", ""} {
		_ = os.Remove(kept + ending)
		switch e := os.Rename(path+ending, kept+ending); {
		case errors.Is(e, fs.ErrNotExist) && ending == "":
			return "", err
		case e != nil && !errors.Is(e, fs.ErrNotExist):
			err = errors.Join(err, e)
		}
	}
	return kept, err
}

// Unused is ErrInUse while a process of ours holds a session.
func Unused(c *config.Config) error {
	locks, err := filepath.Glob(filepath.Join(c.LiveDir(), "*.lock"))
	if err != nil {
		return err
	}
	for _, lock := range locks {
		name := filepath.Base(lock)
		alive, err := correlation.Alive(c.LiveDir(), name[:len(name)-len(".lock")])
		if err != nil {
			return err
		}
		if alive {
			return ErrInUse
		}
	}
	return nil
}
