package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"time"
)

// sqliteConn is what the connections of both drivers have.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
}

// A conn keeps the deadlines of contexts where the driver does not. The driver interrupts a statement when its context
// ends, but SQLite's busy handler, which sleeps while another process holds the lock, ignores interrupts. So before a
// statement the busy timeout is set to what is left until the deadline, and a transaction does without it (BeginTx).
// Cancelling a context without a deadline does not end a statement's wait.
type conn struct {
	sqliteConn
	at      *File
	timeout time.Duration // the busy timeout that is set
	tx      driver.Tx     // the driver's, under way; nil: none
	short   bool          // it is one of Write
	endTurn func()        // of that
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	ctx, err := c.within(ctx, busyTimeout(ctx))
	if err != nil {
		return nil, err
	}
	return c.sqliteConn.ExecContext(ctx, query, args)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	ctx, err := c.within(ctx, busyTimeout(ctx))
	if err != nil {
		return nil, err
	}
	rows, err := c.sqliteConn.QueryContext(ctx, query, args)
	if err == nil && c.at.Engine.Rows != nil {
		rows = c.at.Engine.Rows(rows)
	}
	return rows, err
}

// IsValid and ResetSession ask the driver, if it can tell: a connection may be unusable after a statement was
// interrupted. One to a file that was moved is replaced by one to the file at its path.
func (c *conn) IsValid() bool {
	v, ok := c.sqliteConn.(driver.Validator)
	return !ok || v.IsValid()
}

func (c *conn) ResetSession(ctx context.Context) error {
	if c.at.moved() {
		return driver.ErrBadConn
	}
	if r, ok := c.sqliteConn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

// within sets the busy timeout, unless ctx has ended, and returns the context for the statement. In a transaction the
// lock is held, and nothing waits. A timeout that is a little shorter is kept, and one that has to be shortened loses
// an eighth more: a deadline comes nearer with each statement, which costs less than setting that.
//
// If a context can end, the driver starts a goroutine for each statement that watches it, which costs more than most
// statements. Those of Write need none: the context is looked at between them.
func (c *conn) within(ctx context.Context, wait time.Duration) (context.Context, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.tx != nil && c.short {
		return context.WithoutCancel(ctx), nil
	}
	if c.tx != nil || c.timeout <= wait && c.timeout >= wait-wait/4 {
		return ctx, nil
	}
	if c.timeout > wait {
		wait -= wait / 8
	}
	wait = wait.Truncate(time.Millisecond)
	set := fmt.Sprintf("PRAGMA busy_timeout = %d", wait.Milliseconds())
	if _, err := c.sqliteConn.ExecContext(context.Background(), set, nil); err != nil {
		return nil, err
	}
	c.timeout = wait
	return ctx, nil
}

// defaultBusyTimeout is how long a statement waits for another process's lock when its context sets no nearer deadline.
const defaultBusyTimeout = 5 * time.Second

// busyTimeout is how long a statement may wait for a lock under ctx.
func busyTimeout(ctx context.Context) time.Duration {
	wait := LockWait(ctx, defaultBusyTimeout)
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, max(time.Until(deadline), 0))
	}
	return wait
}
