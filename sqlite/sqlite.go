// Package sqlite is what every package that keeps something in our database needs: transactions, rows, times, and
// errors that tell a person what to do. It links no driver (package migrations does), and knows no table.
package sqlite

import (
	"context"
	"database/sql"
	"time"
)

// Write runs f in a transaction, which it rolls back where f fails. doing names it in the error. Keep it short: while
// it is open everybody else's writing waits. It ends with its context between two statements, not within one.
func Write(ctx context.Context, db *sql.DB, doing string, f func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(context.WithValue(ctx, shortKey{}, true), nil)
	if err != nil {
		return While(doing, err)
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return While(doing, err)
	}
	return While(doing, tx.Commit())
}

// MustHit runs a statement and returns none when it changed no row.
func MustHit(ctx context.Context, tx *sql.Tx, none error, query string, args ...any) error {
	r, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return none
}

// A Querier is a *sql.DB or a *sql.Tx.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// A Row is a *sql.Row or *sql.Rows.
type Row interface{ Scan(dest ...any) error }

// Collect reads all rows of a query.
func Collect[T any](ctx context.Context, q Querier, scan func(Row) (T, error), query string, args ...any) ([]T, error) {
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

// One scans the only column of a row.
func One[T any](row Row) (v T, err error) { return v, row.Scan(&v) }

// Stamp is a time as the database has it: unix milliseconds, 0 for the zero time.
func Stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Unstamp is the time of a stamp.
func Unstamp(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

type shortKey struct{}

// Short reports whether a transaction's context says that it is one of Write.
func Short(ctx context.Context) bool { return ctx.Value(shortKey{}) != nil }

type lockWaitKey struct{}

// WithLockWait returns a context under which a statement, or a transaction's beginning, waits no longer than d for
// somebody else's lock; what comes after that has the time that ctx leaves.
func WithLockWait(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, lockWaitKey{}, d)
}

// LockWait returns what WithLockWait has set, else otherwise.
func LockWait(ctx context.Context, otherwise time.Duration) time.Duration {
	if d, ok := ctx.Value(lockWaitKey{}).(time.Duration); ok {
		return d
	}
	return otherwise
}
