package migrations

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"github.com/mattn/go-sqlite3"
)

// patience is how long a statement waits for another process's lock when its context sets no nearer deadline.
const patience = 5 * time.Second

// connector opens connections to one database file.
type connector struct {
	path   string // absolute
	driver *sqlite3.SQLiteDriver
	reads  bool // and does nothing else
	alone  bool // nobody has it open, who reads: SQLite needs no log and no locks, and makes none
}

func (c *connector) Driver() driver.Driver { return c.driver }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	wait := patienceOf(ctx)
	raw, err := c.driver.Open(c.dsn(wait))
	if err != nil {
		return nil, err
	}
	sqlite, ok := raw.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's %T lacks a method", raw), raw.Close())
	}
	return &conn{sqliteConn: sqlite, patience: wait}, nil
}

func (c *connector) dsn(wait time.Duration) string {
	slashed := filepath.ToSlash(c.path)
	if slashed[0] != '/' { // C:/…
		slashed = "/" + slashed
	}
	u := url.URL{Scheme: "file", Path: slashed}
	if c.reads {
		return fmt.Sprintf("%s?mode=ro&immutable=%t&_busy_timeout=%d", u.String(), c.alone, wait.Milliseconds())
	}
	return fmt.Sprintf("%s?_busy_timeout=%d&_txlock=immediate&_journal_mode=WAL&_synchronous=NORMAL"+
		"&_foreign_keys=on&_secure_delete=on&_cache_size=-1024&_stmt_cache_size=64", u.String(), wait.Milliseconds())
}

// sqliteConn is what *sqlite3.SQLiteConn has; named by interface, so that this also compiles where cgo is off and opening gives the driver's error.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	AutoCommit() bool
	Exec(query string, args []driver.Value) (driver.Result, error)
}

// A conn keeps deadlines where the driver does not: the driver interrupts a statement when its context ends, but SQLite's
// busy handler, which sleeps while another process holds the lock, does not look at interrupts. So the busy timeout is made
// to fit the context's deadline before anything that may wait. A context that is cancelled without a deadline waits its time.
type conn struct {
	sqliteConn
	patience time.Duration // the busy timeout as it is set now
}

func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if err := c.fit(ctx); err != nil {
		return nil, err
	}
	return c.sqliteConn.BeginTx(ctx, opts)
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.fit(ctx); err != nil {
		return nil, err
	}
	return c.sqliteConn.ExecContext(ctx, query, args)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.fit(ctx); err != nil {
		return nil, err
	}
	return c.sqliteConn.QueryContext(ctx, query, args)
}

// fit sets the busy timeout for what ctx allows. Inside a transaction the lock is held already and nothing waits.
func (c *conn) fit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	wait := patienceOf(ctx)
	if wait == c.patience || !c.AutoCommit() {
		return nil
	}
	if _, err := c.Exec(fmt.Sprintf("PRAGMA busy_timeout = %d", wait.Milliseconds()), nil); err != nil {
		return err
	}
	c.patience = wait
	return nil
}

// patienceOf is what ctx leaves of our patience, in whole milliseconds.
func patienceOf(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return patience
	}
	return min(max(time.Until(deadline), 0), patience).Truncate(time.Millisecond)
}
