package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// turnSuffix is what the file of turns (TakeTurn) has behind the database's name, as SQLite's own files do.
const turnSuffix = "-writer"

// A File is a database file, and how it is opened.
type File struct {
	Engine Engine
	Path   string // absolute
	Reads  bool   // read only
	Quiet  bool   // a commit makes no checkpoint
	Alone  bool   // with Reads: no process has it open, so that SQLite needs no log and no locks, and makes none
	// Anew begins a database at Path, or updates another one that is there now; nil: nobody does.
	Anew func(context.Context) error

	last fs.FileInfo // the file that was opened last
}

// An Engine is SQLite as a driver has it.
type Engine struct {
	Driver  driver.Driver
	Pragmas string                        // of a connection that writes, as the driver's DSN spells them
	Rows    func(driver.Rows) driver.Rows // makes its rows as those of other drivers; nil: they are
}

// Open returns a database of one connection. It opens nothing yet.
func (f File) Open() *sql.DB {
	db := sql.OpenDB(&f)
	db.SetMaxOpenConns(1)
	return db
}

// Driver and Connect are a driver.Connector's: database/sql opens connections by them, one at a time.
func (f *File) Driver() driver.Driver { return f.Engine.Driver }

func (f *File) Connect(ctx context.Context) (driver.Conn, error) {
	if f.last != nil && f.Anew != nil && f.moved() {
		if err := f.Anew(ctx); err != nil {
			return nil, err
		}
	}
	wait := busyTimeout(ctx)
	raw, err := f.open(ctx, wait)
	if err != nil {
		return nil, err
	}
	full, ok := raw.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's %T lacks a method", raw), raw.Close())
	}
	if f.last, err = os.Stat(f.Path); err == nil && f.Quiet {
		_, err = full.ExecContext(ctx, "PRAGMA wal_autocheckpoint = 0", nil)
	}
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return &conn{sqliteConn: full, timeout: wait, at: f}, nil
}

// moved reports whether another file, or none, is at the path now: somebody has removed or replaced the folder. Nobody
// would read what is written to the old one.
func (f *File) moved() bool {
	now, err := os.Stat(f.Path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(f.last, now)
}

// open opens a connection. The first one switches a new database to a write-ahead log. When several do so at once,
// SQLite refuses all but one without waiting, so they try again, for as long as a statement may wait.
func (f *File) open(ctx context.Context, wait time.Duration) (driver.Conn, error) {
	for end := time.Now().Add(wait); ; {
		raw, err := f.Engine.Driver.Open(f.dsn(wait))
		if !errors.Is(Explain(err), ErrBusy) || time.Until(end) < retryOpen {
			return raw, err
		}
		select {
		case <-time.After(retryOpen):
		case <-ctx.Done():
			return nil, err
		}
	}
}

const retryOpen = 5 * time.Millisecond

func (f *File) dsn(wait time.Duration) string {
	slashed := filepath.ToSlash(f.Path)
	if slashed[0] != '/' { // C:/…
		slashed = "/" + slashed
	}
	u := url.URL{Scheme: "file", Path: slashed}
	if f.Reads {
		return fmt.Sprintf("%s?mode=ro&immutable=%t&_busy_timeout=%d", u.String(), f.Alone, wait.Milliseconds())
	}
	return fmt.Sprintf("%s?_busy_timeout=%d&%s", u.String(), wait.Milliseconds(), f.Engine.Pragmas)
}
