package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

const (
	// fewerTables is the file that drops tables after it has taken their rows over. A copy of the database is made
	// before.
	fewerTables = "0022_fewer_tables.sql"
	// CopyTime is how long the copy is kept.
	CopyTime = 7 * 24 * time.Hour
	// MaxCopied is the size in bytes up to which a database is copied.
	MaxCopied = 2 << 30
	// copyTime is how long copying may take. It goes on when the opener's context ends, or a large database would
	// never be brought up to date.
	copyTime = 5 * time.Minute
)

// CopyOf returns the path of the copy that is kept of a database from before its tables became fewer.
func CopyOf(path string) string { return path + ".before-0022" }

// Copy writes a copy of a database into a new file. SQLite accepts an existing file if it is empty; made here, nobody
// else can read it at any moment.
func Copy(ctx context.Context, db *sql.DB, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return errors.Join(sqlite.Explain(err), os.Remove(path))
	}
	return nil
}

// keepCopy copies a database that is to get the files named missing, if fewerTables is one of them, and the database
// has rows and is not too large. Of several processes that open it one does so, and the others wait. One that dies
// leaves no copy, but a part that the next one removes.
func keepCopy(ctx context.Context, db *sql.DB, path string, missing []string) error {
	if !slices.Contains(missing, fewerTables) || missing[0] == "0001_sessions.sql" {
		return nil
	}
	var rows bool // in a table whose ids are never used again: sessions, turns, memories, …
	err := db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sqlite_sequence)`).Scan(&rows)
	if err != nil || !rows {
		return err
	}
	if info, err := os.Stat(path); err != nil || info.Size() > MaxCopied {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), copyTime)
	defer cancel()
	kept := CopyOf(path)
	done, err := sqlite.TakeTurn(ctx, kept+"-lock")
	if err != nil {
		return err
	}
	defer done()
	if _, err := os.Lstat(kept); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	part := kept + "-part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = Copy(ctx, db, part)
	if err == nil {
		err = os.Rename(part, kept)
	}
	if err != nil {
		return fmt.Errorf("keeping a copy from before %s: %w", fewerTables, err)
	}
	return nil
}

// CopyFiles are the copy and the files that belong to making it.
func CopyFiles(path string) []string {
	kept := CopyOf(path)
	return []string{kept, kept + "-lock", kept + "-part"}
}
