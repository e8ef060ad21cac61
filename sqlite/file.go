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
}

// An Engine is SQLite as a driver has it.
type Engine struct {
	Driver  driver.Driver
	Pragmas string                        // of a connection that writes, as the driver's DSN spells them
	Rows    func(driver.Rows) driver.Rows // makes its rows as those of other drivers; nil: they are
}

// Open returns a database of one connection. It opens nothing yet.
func (f File) Open() *sql.DB {
	db := sql.OpenDB(&connector{File: f})
	db.SetMaxOpenConns(1)
	return db
}

// A connector opens connections to a file, one at a time.
type connector struct {
	File
	last fs.FileInfo // the file that was opened last
}

func (c *connector) Driver() driver.Driver { return c.Engine.Driver }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	if c.last != nil && c.Anew != nil && c.moved() {
		if err := c.Anew(ctx); err != nil {
			return nil, err
		}
	}
	wait := busyTimeout(ctx)
	raw, err := c.open(ctx, wait)
	if err != nil {
		return nil, err
	}
	full, ok := raw.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's %T lacks a method", raw), raw.Close())
	}
	if c.last, err = os.Stat(c.Path); err == nil && c.Quiet {
		_, err = full.ExecContext(ctx, "PRAGMA wal_autocheckpoint = 0", nil)
	}
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return &conn{sqliteConn: full, timeout: wait, at: c}, nil
}

// moved reports whether another file, or none, is at the path now: somebody has removed or replaced the folder. Nobody
// would read what is written to the old one.
func (c *connector) moved() bool {
	now, err := os.Stat(c.Path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(c.last, now)
}

// open opens a connection. The first one switches a new database to a write-ahead log. When several do so at once,
// SQLite refuses all but one without waiting, so they try again, for as long as a statement may wait.
func (c *connector) open(ctx context.Context, wait time.Duration) (driver.Conn, error) {
	for end := time.Now().Add(wait); ; {
		raw, err := c.Engine.Driver.Open(c.dsn(wait))
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

func (c *connector) dsn(wait time.Duration) string {
	slashed := filepath.ToSlash(c.Path)
	if slashed[0] != '/' { // C:/…
		slashed = "/" + slashed
	}
	u := url.URL{Scheme: "file", Path: slashed}
	if c.Reads {
		return fmt.Sprintf("%s?mode=ro&immutable=%t&_busy_timeout=%d", u.String(), c.Alone, wait.Milliseconds())
	}
	return fmt.Sprintf("%s?_busy_timeout=%d&%s", u.String(), wait.Milliseconds(), c.Engine.Pragmas)
}
