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

// defaultBusyTimeout is how long a statement waits for another process's lock when its context sets no nearer deadline.
const defaultBusyTimeout = 5 * time.Second

// The lock of a transaction is tried again after firstRest, and then after ever longer rests up to lastRest. SQLite by
// itself would check every 100 ms in the end, so that another process that writes one transaction after the other would
// always win; and its wait neither ends with a context nor knows a test's clock.
const (
	firstRest = time.Millisecond
	lastRest  = 25 * time.Millisecond
)

// turnSuffix is what the file of turns (sqlite.TakeTurn) has behind the database's name, as SQLite's own files do.
const turnSuffix = "-writer"

// connector opens connections to one database file.
type connector struct {
	path   string // absolute
	driver driver.Driver
	schema fs.FS // of what is begun at path if the file was removed; nil: nothing is
	reads  bool  // read only
	alone  bool  // with reads: no process has it open, so that SQLite needs no log and no locks, and makes none

	file fs.FileInfo // that the last connection has opened; a database has one at a time
}

func (c *connector) Driver() driver.Driver { return c.driver }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	wait := busyTimeout(ctx)
	if c.file != nil && c.schema != nil && c.moved() {
		db, err := open(ctx, c.path, c.schema)
		if err == nil {
			err = db.Close()
		}
		if err != nil {
			return nil, err
		}
	}
	raw, err := c.open(ctx, wait)
	if err != nil {
		return nil, err
	}
	sqlite, ok := raw.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's %T lacks a method", raw), raw.Close())
	}
	if c.file, err = os.Stat(c.path); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return &conn{sqliteConn: sqlite, timeout: wait, turns: c.path + turnSuffix, moved: c.moved}, nil
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

// sqliteConn is what the connections of both drivers have.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
}

// A conn keeps deadlines where the driver does not. The driver interrupts a statement when its context ends, but
// SQLite's busy handler, which sleeps while another process holds the lock, ignores interrupts. So a transaction does
// without it, and before a statement outside of one the busy timeout is set to what is left until the context's
// deadline: cancelling a context without a deadline does not end such a wait.
type conn struct {
	sqliteConn
	timeout time.Duration // the busy timeout that is set
	inTx    bool          // between BEGIN and COMMIT or ROLLBACK
	short   bool          // inTx, in a transaction of sqlite.Write
	turns   string        // the file of turns
	endTurn func()        // ends ours, while short
	moved   func() bool   // the connection is to a file that is not at its path any more
}

// BeginTx waits for the short transactions of our own processes (sqlite.Write) as long as ctx allows: each gets its
// turn. A lock that is held although it is our turn is somebody else's, who may keep it.
func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if err := c.waitFor(ctx, 0); err != nil {
		return nil, err
	}
	short := sqlite.Short(ctx)
	var end time.Time
	for rest := firstRest; ; rest = min(2*rest, lastRest) {
		endTurn, err := func() {}, error(nil)
		if short {
			if endTurn, err = c.takeTurn(ctx); err != nil {
				return nil, err
			}
		}
		transaction, err := c.sqliteConn.BeginTx(ctx, opts)
		if err == nil {
			c.inTx, c.short, c.endTurn = true, short, endTurn
			return &tx{Tx: transaction, conn: c}, nil
		}
		endTurn()
		if end.IsZero() {
			end = time.Now().Add(busyTimeout(ctx))
		}
		left := time.Until(end)
		if left <= 0 || !errors.Is(sqlite.Explain(err), sqlite.ErrBusy) {
			return nil, err
		}
		select {
		case <-time.After(min(rest, left)):
		case <-ctx.Done():
			return nil, errors.Join(err, ctx.Err())
		}
	}
}

// takeTurn waits for our turn. Where there are no such locks everybody has it.
func (c *conn) takeTurn(ctx context.Context) (end func(), err error) {
	limited, cancel := context.WithTimeout(ctx, defaultBusyTimeout)
	defer cancel()
	end, err = sqlite.TakeTurn(limited, c.turns)
	switch {
	case err == nil:
		return end, nil
	case limited.Err() != nil:
		return nil, fmt.Errorf("%w (%w)", sqlite.ErrBusy, err)
	}
	return func() {}, nil
}

// IsValid and ResetSession ask the driver, if it can tell: a connection may be unusable after a statement was
// interrupted. One to a file that was moved is replaced by one to the file at its path.
func (c *conn) IsValid() bool {
	v, ok := c.sqliteConn.(driver.Validator)
	return !ok || v.IsValid()
}

func (c *conn) ResetSession(ctx context.Context) error {
	if c.moved() {
		return driver.ErrBadConn
	}
	if r, ok := c.sqliteConn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

// A tx tells its connection when it has ended; both drivers roll back what they could not commit.
type tx struct {
	driver.Tx
	conn *conn
}

func (t *tx) Commit() error {
	defer t.conn.ended()
	return t.Tx.Commit()
}

func (t *tx) Rollback() error {
	defer t.conn.ended()
	return t.Tx.Rollback()
}

func (c *conn) ended() {
	if c.inTx {
		c.inTx = false
		c.endTurn()
	}
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.fit(ctx); err != nil {
		return nil, err
	}
	return c.sqliteConn.ExecContext(c.unwatched(ctx), query, args)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.fit(ctx); err != nil {
		return nil, err
	}
	rows, err := c.sqliteConn.QueryContext(c.unwatched(ctx), query, args)
	if err != nil {
		return nil, err
	}
	return alike(rows), nil
}

// unwatched returns the context for a statement. If a context can end, the driver starts a goroutine for each statement
// that watches it, which costs more than most statements. A transaction of sqlite.Write waits for no lock once it has
// begun, and checks its context between statements (waitFor), so its statements need none.
func (c *conn) unwatched(ctx context.Context) context.Context {
	if c.inTx && c.short {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// fit sets the busy timeout to what ctx allows.
func (c *conn) fit(ctx context.Context) error { return c.waitFor(ctx, busyTimeout(ctx)) }

// waitFor sets the busy timeout, unless ctx has ended. Inside of a transaction the lock is held, and nothing waits.
func (c *conn) waitFor(ctx context.Context, wait time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if wait = wait.Truncate(time.Millisecond); wait == c.timeout || c.inTx {
		return nil
	}
	set := fmt.Sprintf("PRAGMA busy_timeout = %d", wait.Milliseconds())
	if _, err := c.sqliteConn.ExecContext(context.Background(), set, nil); err != nil {
		return err
	}
	c.timeout = wait
	return nil
}

// busyTimeout is how long a statement may wait for a lock under ctx.
func busyTimeout(ctx context.Context) time.Duration {
	wait := sqlite.LockWait(ctx, defaultBusyTimeout)
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, max(time.Until(deadline), 0))
	}
	return wait
}
