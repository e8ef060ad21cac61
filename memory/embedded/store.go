// Package embedded is the memory source that needs no daemon: the person's identity files, and full-text search over what earlier sessions said and
// what was stored, in our own database.
//
// What is worth keeping of a turn is decided by rules (distil.go), what is relevant to a prompt by words (rank.go): there is no model in it, and nothing
// leaves the machine. In a build without FTS5 (-tags sqlite_fts5) everything works but recall and search, which find nothing.
package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Options of a Store. The zero value works and has no identity files.
type Options struct {
	SignetPath    string           // where the identity files are; empty: there are none
	OtherProjects bool             // recall from other projects as well
	Now           func() time.Time // nil: time.Now
	Log           zerolog.Logger
}

// A Store is the embedded memory. It owns neither the database nor its connection. Methods may be called from several goroutines, and
// other processes may use the same database.
type Store struct {
	db   *sql.DB
	opts Options

	probe sync.Mutex
	index bool // full-text search is there; only ever turns true, under probe
	asked bool // protected by probe
}

var _ memory.Source = (*Store)(nil)

// New returns a store on a database that migrations.Open has opened.
func New(db *sql.DB, o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Store{db: db, opts: o}
}

// recallTime is how long a prompt may wait for the database. Past it the prompt goes without.
const recallTime = 100 * time.Millisecond

// Start implements memory.Source: the identity, and what the project's earlier sessions decided. It never fails: what cannot be read is left out.
func (s *Store) Start(ctx context.Context, session memory.Session) (memory.Context, error) {
	begun := s.opts.Now()
	c := s.Identity(session)
	ctx, cancel := context.WithTimeout(ctx, recallTime)
	defer cancel()
	items, err := s.standing(ctx, session)
	if err != nil {
		s.opts.Log.Debug().Err(err).Str("key", session.Key).Msg("start without memories")
	}
	c.Items = items
	c.Fetched, c.Took = begun, s.opts.Now().Sub(begun)
	return c, nil
}

// write runs f in a transaction. doing names it in the error.
func (s *Store) write(ctx context.Context, doing string, f func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return explain(doing, err)
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return explain(doing, err)
	}
	return explain(doing, tx.Commit())
}

// explain says what was being done when err came up, and what it means.
func explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, correlation.Explain(err))
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

// searchable reports whether the full-text index is there and this build can read it. The lock is not held while the database is asked: the one
// connection may belong to a transaction that asks the same.
func (s *Store) searchable(ctx context.Context, q querier) (bool, error) {
	s.probe.Lock()
	asked, index := s.asked, s.index
	s.probe.Unlock()
	if asked {
		return index, nil
	}
	var id int64
	err := q.QueryRowContext(ctx, `SELECT rowid FROM memories_fts LIMIT 1`).Scan(&id)
	switch {
	case err == nil, errors.Is(err, sql.ErrNoRows):
		index = true
	case !strings.Contains(err.Error(), "no such"): // table, or module
		return false, err
	}
	s.probe.Lock()
	defer s.probe.Unlock()
	s.asked, s.index = true, index
	return index, nil
}
