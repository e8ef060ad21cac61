package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"
)

// The lock of a transaction is tried again after firstRest, and then after ever longer rests up to lastRest. SQLite by
// itself would check every 100 ms in the end, so that another process that writes one transaction after the other would
// always win; and its wait neither ends with a context nor knows a test's clock.
const (
	firstRest = time.Millisecond
	lastRest  = 25 * time.Millisecond
)

// BeginTx waits for the short transactions of our own processes (Write) as long as ctx allows: each gets its
// turn. A lock that is held although it is our turn is somebody else's, who may keep it.
func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if _, err := c.within(ctx, 0); err != nil {
		return nil, err
	}
	c.short = ctx.Value(shortKey{}) != nil
	var end time.Time
	for rest := firstRest; ; rest = min(2*rest, lastRest) {
		err := c.takeTurn(ctx)
		if err != nil {
			return nil, err
		}
		if c.tx, err = c.sqliteConn.BeginTx(ctx, opts); err == nil {
			return c, nil
		}
		c.tx = nil
		c.endTurn()
		if end.IsZero() {
			end = time.Now().Add(busyTimeout(ctx))
		}
		left := time.Until(end)
		if left <= 0 || !errors.Is(Explain(err), ErrBusy) {
			return nil, err
		}
		select {
		case <-time.After(min(rest, left)):
		case <-ctx.Done():
			return nil, errors.Join(err, ctx.Err())
		}
	}
}

// takeTurn waits until it is a short transaction's turn. A long one needs none, and where there are no such locks
// everybody has it.
func (c *conn) takeTurn(ctx context.Context) error {
	c.endTurn = func() {}
	if !c.short {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, defaultBusyTimeout)
	defer cancel()
	end, err := TakeTurn(limited, c.at.Path+turnSuffix)
	switch {
	case err == nil:
		c.endTurn = end
	case limited.Err() != nil:
		return fmt.Errorf("%w (%w)", ErrBusy, err)
	}
	return nil
}

// Commit and Rollback end the turn of the transaction that the connection is in; both drivers roll back what they could
// not commit.
func (c *conn) Commit() error {
	defer c.endTurn()
	tx := c.tx
	c.tx = nil
	return tx.Commit()
}

func (c *conn) Rollback() error {
	defer c.endTurn()
	tx := c.tx
	c.tx = nil
	return tx.Rollback()
}
