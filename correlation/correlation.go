// Package correlation keeps in SQLite what outlives a process: which ACP session is which Signet key, whether a session has had its context,
// what was inserted word for word, what was said, and what is still owed to the daemon. It knows no ACP frames, links no driver and
// makes no requests; package migrations opens the database and applies the schema.
//
//	db, err := migrations.Open(ctx, path)
//	store := correlation.New(db, correlation.Options{LiveDir: filepath.Join(acpDir, "live")})
//	process, err := store.Register(ctx, correlation.ProcessInfo{Kind: correlation.Relay, Memory: "auto"})
//	session, err := store.Open(ctx, correlation.OpenSession{Harness: "claude", ACPID: id, Process: process.ID()})
//	_, err = store.Claim(ctx, session.ID, []correlation.State{correlation.Armed}, process.ID(), injection)
//	…
//	err = process.End(ctx, "eof")
//
// Two processes may hold one session at once, so every change of state is a compare-and-set. A process is alive as long as it holds an OS file
// lock; the claims and leases of a dead one are free at once, without any clock.
//
// Every method returns by its context's deadline, also while another process holds the database. Methods may be called from several goroutines.
package correlation

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/rs/zerolog"
)

// Options of a Store. The zero value works, but knows nothing of living processes.
type Options struct {
	// LiveDir is the folder of the lock files of living processes ($SIGNET_PATH/acp/live), made when needed. Empty: no process can be
	// registered, and every other one counts as alive.
	LiveDir string
	Now     func() time.Time // nil: time.Now
	Log     zerolog.Logger
}

// A Store is the tables of package migrations, seen from here. It owns neither the database nor its connection.
type Store struct {
	db   *sql.DB
	live string
	now  func() time.Time
	log  zerolog.Logger
}

// New returns a store on a database that migrations.Open has opened.
func New(db *sql.DB, o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Store{db: db, live: o.LiveDir, now: o.Now, log: o.Log}
}

// write runs f in a transaction. doing names it in the error.
func (s *Store) write(ctx context.Context, doing string, f func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return explain(doing, err)
	}
	defer tx.Rollback()
	err = f(tx)
	if err == nil || errors.Is(err, ErrStateChanged) { // then nothing was done but to put a dead process's claim in doubt
		err = errors.Join(err, tx.Commit())
	}
	return explain(doing, err)
}

// change is write for a single statement that must hit a row; none is given otherwise.
func (s *Store) change(ctx context.Context, doing string, none error, query string, args ...any) error {
	return s.write(ctx, doing, func(tx *sql.Tx) error { return mustHit(ctx, tx, none, query, args...) })
}

// mustHit runs a statement and returns none when it changed no row.
func mustHit(ctx context.Context, tx *sql.Tx, none error, query string, args ...any) error {
	r, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return none
}

// querier is a *sql.DB or a *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// collect reads all rows of a query.
func collect[T any](ctx context.Context, q querier, scan func(row scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// scanner is a *sql.Row or *sql.Rows.
type scanner interface{ Scan(dest ...any) error }

func scanID(row scanner) (id int64, err error) {
	err = row.Scan(&id)
	return id, err
}

// orNotFound turns the absence of a row into ErrNotFound.
func orNotFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// stamp is a time as the database has it: unix milliseconds, 0 for the zero time.
func stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func unstamp(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
