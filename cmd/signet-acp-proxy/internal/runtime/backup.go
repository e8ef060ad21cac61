package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// errInUse says that a process of ours is alive, so that the database must not be replaced.
var errInUse = errors.New("a session or the delivery worker is running: " +
	"end it first (see signet-acp-proxy sessions)")

// Backup writes a copy of the database, as it is now, into a new file. Sessions may go on meanwhile.
func (d *Data) Backup(ctx context.Context, name string) error {
	path, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s already exists: name a new file", path)
	}
	return sqlite.While("writing the backup", migrations.Copy(ctx, d.DB, path))
}

// Restore puts a backup in the place of the database, which is kept as FILE.before-restore; kept is its path. Errors:
// errInUse, a backup that is broken or none of ours, the disk's.
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
		return "", fmt.Errorf("%s is not a backup of this program", name)
	}
	if err := Unused(c); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(c.DB), 0o700); err != nil {
		return "", err
	}
	copied := c.DB + ".restoring"
	_ = os.Remove(copied)
	if err := migrations.Copy(ctx, backup, copied); err != nil {
		return "", sqlite.While("copying the backup", err)
	}
	if err := adopt(ctx, copied); err != nil {
		return "", errors.Join(fmt.Errorf("%s: %w", name, err), os.Remove(copied))
	}
	kept, err = setAside(c.DB)
	if err == nil { // an undo file of the old database does not fit the new one
		err = RemoveUndo(UndoFile(c))
	}
	if err == nil {
		err = os.Rename(copied, c.DB)
	}
	return kept, err
}

// adopt makes a copy of a backup ours, whoever made it: it brings no objects that our schema does not have, no command
// to run after a session, and no daemon to send what was said to. Those are the configuration's.
func adopt(ctx context.Context, path string) error {
	if err := migrations.Adopt(ctx, path); err != nil {
		return err
	}
	db, err := migrations.Open(ctx, path)
	if err != nil {
		return err
	}
	err = correlation.New(db, correlation.Options{}).ForgetOrders(ctx)
	return errors.Join(err, db.Close())
}

// setAside renames a database and the files that belong to it; kept is "" where there is none.
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

// Unused returns errInUse while a process of ours is alive.
func Unused(c *config.Config) error {
	locks, err := filepath.Glob(filepath.Join(c.LiveDir(), "*.lock"))
	if err != nil {
		return err
	}
	for _, lock := range locks {
		if correlation.Alive(c.LiveDir(), strings.TrimSuffix(filepath.Base(lock), ".lock")) {
			return errInUse
		}
	}
	return nil
}
