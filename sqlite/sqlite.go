// Package sqlite has what every package with tables in our database needs: transactions, rows, times, and errors that
// tell a person what to do. It opens a file with the driver that it is given (package migrations
// links one), keeps the deadlines of contexts, and knows no table.
package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"
)

// Write runs f in a transaction, and rolls back if f fails. doing is in the error, as with While. Keep f short: all
// other writers wait for it. When ctx ends, the transaction fails at the next statement; the one that is running is not
// interrupted.
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

// Change runs a statement, and returns how many rows it changed.
func Change(ctx context.Context, tx *sql.Tx, query string, args ...any) (int64, error) {
	r, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// MustHit runs a statement, and returns the error none if it changed no row.
func MustHit(ctx context.Context, tx *sql.Tx, none error, query string, args ...any) error {
	n, err := Change(ctx, tx, query, args...)
	if err == nil && n == 0 {
		err = none
	}
	return err
}

// A Querier is a *sql.DB or a *sql.Tx.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// A Row is a *sql.Row or *sql.Rows.
type Row interface{ Scan(dest ...any) error }

// Each has do read each row of a query.
func Each(ctx context.Context, q Querier, do func(Row) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Collect returns all rows of a query, as scan reads them.
func Collect[T any](ctx context.Context, q Querier, scan func(Row) (T, error), query string, args ...any) ([]T, error) {
	var all []T
	err := Each(ctx, q, func(row Row) error {
		one, err := scan(row)
		all = append(all, one)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Pairs returns a query's rows of two columns by the first.
func Pairs[K comparable, V any](ctx context.Context, q Querier, query string, args ...any) (map[K]V, error) {
	all := map[K]V{}
	err := Each(ctx, q, func(row Row) error {
		var key K
		var value V
		err := row.Scan(&key, &value)
		all[key] = value
		return err
	}, query, args...)
	return all, err
}

// One scans a row's only column, for Collect.
func One[T any](row Row) (v T, err error) { return v, row.Scan(&v) }

// Optional returns the only column of a row, and the zero value if there is no row.
func Optional[T any](row Row) (v T, err error) {
	if err = row.Scan(&v); errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return v, err
}

// List returns values as the JSON array that json_each takes; of none "[]".
func List[T int64 | string](values []T) string {
	if len(values) == 0 {
		return "[]"
	}
	list, _ := json.Marshal(values) // numbers and texts
	return string(list)
}

// Stamp returns a time as the database stores it: Unix milliseconds, 0 for the zero time.
func Stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Unstamp returns the time of a stamp, the zero time for 0.
func Unstamp(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// shortKey marks the context of a transaction of Write.
type shortKey struct{}

type lockWaitKey struct{}

// WithLockWait returns a context under which a statement, or the beginning of a transaction, waits no longer than d for
// a lock that somebody else holds. Write waits for its turn, and the work itself goes on, for as long as ctx lasts.
func WithLockWait(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, lockWaitKey{}, d)
}

// LockWait returns the wait that WithLockWait has set, or otherwise if none is set.
func LockWait(ctx context.Context, otherwise time.Duration) time.Duration {
	if d, ok := ctx.Value(lockWaitKey{}).(time.Duration); ok {
		return d
	}
	return otherwise
}
