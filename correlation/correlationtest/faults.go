package correlationtest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

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

// A Walk calls every method of what works with a database, and has every statement that the method makes fail in turn:
// whoever asked must be told, and nothing may be changed by halves.
type Walk struct {
	Opened  *sql.DB  // the database as it is before each method
	Path    string   // of it
	Values  []any    // arguments, by their types; others are zero, and functions do nothing
	InSteps []string // methods that commit more than once
	Quiet   []string // methods that do without what they could not read
	Skip    []string // methods that take more than Values have
}

// Every walks through the methods of what is made on a copy of the database.
func (w Walk) Every(t testing.TB, of func(db *sql.DB, path string) any) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.Opened.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	must(err)
	file, err := os.ReadFile(w.Path)
	must(err)
	path := filepath.Join(t.TempDir(), "copy.db")
	for m := 0; ; m++ {
		for _, left := range []string{"", "-wal", "-shm", "-writer"} {
			_ = os.Remove(path + left)
		}
		must(os.WriteFile(path, file, 0o600))
		db, faults := Failing(w.Opened, path)
		watched, _ := Failing(w.Opened, path)
		on := reflect.ValueOf(of(db, path))
		if m < on.NumMethod() && !slices.Contains(w.Skip, on.Type().Method(m).Name) {
			w.walk(t, on.Type().Method(m).Name, on.Method(m), faults, func() (version int) {
				must(watched.QueryRow("PRAGMA data_version").Scan(&version))
				return version
			})
		}
		must(errors.Join(watched.Close(), db.Close()))
		if m >= on.NumMethod() {
			return
		}
	}
}

func (w Walk) walk(t testing.TB, name string, method reflect.Value, faults *Faults, version func() int) {
	var in []reflect.Value
	for i := range method.Type().NumIn() {
		in = append(in, w.argument(method.Type().In(i)))
	}
	for at := int64(1); ; at++ {
		before := version()
		faults.Fail(at)
		out := method.Call(in)
		if !faults.Failed() {
			return
		}
		err, _ := out[len(out)-1].Interface().(error)
		if !errors.Is(err, sqlite.ErrDisk) && !slices.Contains(w.Quiet, name) {
			t.Errorf("%s: statement %d fails, and it says %v", name, at, err)
		}
		if version() != before && !slices.Contains(w.InSteps, name) {
			t.Errorf("%s: statement %d fails, and something is changed", name, at)
		}
	}
}

func (w Walk) argument(of reflect.Type) reflect.Value {
	for _, v := range w.Values {
		if reflect.TypeOf(v).AssignableTo(of) {
			return reflect.ValueOf(v)
		}
	}
	if of.Kind() != reflect.Func {
		return reflect.Zero(of)
	}
	return reflect.MakeFunc(of, func([]reflect.Value) (out []reflect.Value) {
		for i := range of.NumOut() {
			out = append(out, reflect.Zero(of.Out(i)))
		}
		return out
	})
}
