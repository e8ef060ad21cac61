package migrations

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// turnSuffix is what the file of turns (sqlite.TakeTurn) has behind the database's name, as SQLite's own files do.
const turnSuffix = "-writer"

// A connector opens connections to one database file, one at a time.
type connector struct {
	path   string // absolute
	driver driver.Driver
	reads  bool // read only
	quiet  bool // a commit makes no checkpoint
	alone  bool // with reads: no process has it open, so that SQLite needs no log and no locks, and makes none
	// anew begins a database at path, or updates another one that is there now; nil: nobody does
	anew func(context.Context) error

	file fs.FileInfo // that the last connection has opened
}

func (c *connector) Driver() driver.Driver { return c.driver }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	if c.file != nil && c.anew != nil && c.moved() {
		if err := c.anew(ctx); err != nil {
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
	if c.file, err = os.Stat(c.path); err == nil && c.quiet {
		_, err = full.ExecContext(ctx, "PRAGMA wal_autocheckpoint = 0", nil)
	}
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return &conn{sqliteConn: full, timeout: wait, turns: c.path + turnSuffix, moved: c.moved}, nil
}

// moved reports whether another file, or none, is at the path now: somebody has removed or replaced the folder. Nobody
// would read what is written to the old one.
func (c *connector) moved() bool {
	now, err := os.Stat(c.path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(c.file, now)
}

// open opens a connection. The first one switches a new database to a write-ahead log. When several do so at once,
// SQLite refuses all but one without waiting, so they try again, for as long as a statement may wait.
func (c *connector) open(ctx context.Context, wait time.Duration) (driver.Conn, error) {
	for end := time.Now().Add(wait); ; {
		raw, err := c.driver.Open(c.dsn(wait))
		if !errors.Is(sqlite.Explain(err), sqlite.ErrBusy) || time.Until(end) < retryOpen {
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
	slashed := filepath.ToSlash(c.path)
	if slashed[0] != '/' { // C:/…
		slashed = "/" + slashed
	}
	u := url.URL{Scheme: "file", Path: slashed}
	if c.reads {
		return fmt.Sprintf("%s?mode=ro&immutable=%t&_busy_timeout=%d", u.String(), c.alone, wait.Milliseconds())
	}
	return fmt.Sprintf("%s?_busy_timeout=%d&%s", u.String(), wait.Milliseconds(), ourPragmas)
}
