package correlationtest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
	"sync/atomic"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Faults count the statements of a database, its transactions' beginnings and ends among them, and let one fail.
type Faults struct {
	driver.Driver
	done, at atomic.Int64
}

// Failing opens a database that was opened before once more.
func Failing(opened *sql.DB, path string) (*sql.DB, *Faults) {
	f := &Faults{Driver: opened.Driver()}
	return sqlite.File{Path: path,
		Engine: sqlite.Engine{Driver: f, Pragmas: "_txlock=immediate&_foreign_keys=on"}}.Open(), f
}

// Fail lets the nth statement from now on fail as on a disk that is damaged, counted from 1; with 0 none fails.
func (f *Faults) Fail(n int64) {
	f.done.Store(0)
	f.at.Store(n)
}

// Done is the number of statements since Fail.
func (f *Faults) Done() int64 { return f.done.Load() }

// Failed reports whether it has come to the one that fails.
func (f *Faults) Failed() bool { return f.at.Load() > 0 && f.Done() >= f.at.Load() }

func (f *Faults) next() error {
	if f.done.Add(1) == f.at.Load() {
		return sqlite.ErrDisk
	}
	return nil
}

func (f *Faults) Open(name string) (driver.Conn, error) {
	c, err := f.Driver.Open(name)
	if err != nil {
		return nil, err
	}
	return &failing{c.(conn), f}, nil
}

type conn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
}

type failing struct {
	conn
	f *Faults
}

func (c *failing) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if !strings.HasPrefix(query, "PRAGMA") { // how long it waits, which is set when that has changed
		if err := c.f.next(); err != nil {
			return nil, err
		}
	}
	return c.conn.ExecContext(ctx, query, args)
}

func (c *failing) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.f.next(); err != nil {
		return nil, err
	}
	return c.conn.QueryContext(ctx, query, args)
}

func (c *failing) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := c.f.next(); err != nil {
		return nil, err
	}
	tx, err := c.conn.BeginTx(ctx, o)
	return ending{tx, c.f}, err
}

type ending struct {
	driver.Tx
	f *Faults
}

func (e ending) Commit() error {
	if err := e.f.next(); err != nil {
		_ = e.Rollback()
		return err
	}
	return e.Tx.Commit()
}
