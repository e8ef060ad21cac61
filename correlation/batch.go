package correlation

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// An Event is something that happened in a process, and knows what it does to the database. Its fields Session
// and Turn are numbers by which the process counts its sessions and turns, from 1 on; 0 for none.
type Event interface {
	fold(*Batch) error
}

// A Batch is a transaction in which events of a process are written.
type Batch struct {
	Changes
	ctx     context.Context
	tx      *sql.Tx
	store   core  // a copy, with the time of the event as its clock
	now     int64 // that time, as the database stores it
	process string

	// caches, because a query costs more than a change
	sessions map[int]int64     // rows by number
	turns    map[int]turnOf    // by number
	answers  map[int64]*answer // by the turn's row
	active   map[int64]int64   // when something was last said, by the session's row
}

// Changes are what a process has to know of what its events have changed. Numbers are its own.
type Changes struct {
	From, To int64 // numbers up to which the database had the process's events before, and has them now

	Spoke  bool         // a turn has ended, or has more text
	Ended  bool         // a turn has ended
	Gone   map[int]bool // numbers of sessions that the database does not have: they were forgotten
	Opened []int        // numbers of sessions that were opened
}

type turnOf struct{ id, session int64 }

// Batch runs f in a transaction for a process. Keep it short, because claims wait for it.
func (s *Store) Batch(ctx context.Context, process string, f func(*Batch) error) error {
	return sqlite.Write(ctx, s.db, "writing events", func(tx *sql.Tx) error {
		b := &Batch{
			Changes: Changes{Gone: map[int]bool{}},
			ctx:     ctx, tx: tx, store: *s.core, process: process,
			sessions: map[int]int64{}, turns: map[int]turnOf{},
			answers: map[int64]*answer{}, active: map[int64]int64{},
		}
		b.At(s.now())
		err := f(b)
		if err == nil && b.To > b.From {
			err = b.exec(`UPDATE processes SET written = ? WHERE id = ?`, b.To, process)
		}
		for session, at := range b.active {
			if err == nil {
				err = b.exec(`UPDATE sessions SET last_active = max(last_active, ?) WHERE id = ?`, at, session)
			}
		}
		return err
	})
}

func (b *Batch) exec(query string, args ...any) error {
	_, err := b.tx.ExecContext(b.ctx, query, args...)
	return err
}

// At sets the time at which the following events happened.
func (b *Batch) At(at time.Time) {
	b.now = sqlite.Stamp(at)
	b.store.now = func() time.Time { return at }
}

// Apply folds an event in. ErrNotFound says that its session or turn has no row, because it was never opened or was
// forgotten, ErrStateChanged and ErrIllegalStep that it came too late. After any other error the function that got the
// Batch has to return the error.
func (b *Batch) Apply(e Event) error { return e.fold(b) }

// Begin reads From, and has To begin there; whoever applies events with numbers sets that. It writes the process's row,
// unless it is there.
func (b *Batch) Begin(info ProcessInfo) error {
	err := b.tx.QueryRowContext(b.ctx, selectWritten, b.process).Scan(&b.From)
	if b.To = b.From; errors.Is(err, sql.ErrNoRows) {
		return register(b.ctx, b.tx, info, b.store.now())
	}
	return err
}

// Written returns the number up to which the database has a process's events; 0 for a process without a row.
func (s *Store) Written(ctx context.Context, process string) (int64, error) {
	n, err := sqlite.Optional[int64](s.db.QueryRowContext(ctx, selectWritten, process))
	return n, sqlite.While("looking up what a process has written", err)
}

const selectWritten = `SELECT written FROM processes WHERE id = ?`

// End marks the end of the process, once, and leaves deliveries for what it owes, also if it was marked before.
func (b *Batch) End(reason string) error {
	first, err := b.store.markEnded(b.ctx, b.tx, b.process, reason)
	if err == nil && !first {
		err = b.store.leaveDebts(b.ctx, b.tx, b.process, reason)
	}
	if errors.Is(err, ErrNotFound) { // it has no row: that was removed, or it recorded nothing
		return nil
	}
	return err
}

// EventSession returns the row of the session with a number in the events of a process, or ErrNotFound.
func (s *Store) EventSession(ctx context.Context, process string, n int) (id int64, err error) {
	id, err = openedSession(ctx, s.db, process, n)
	return id, sqlite.While("looking up a session of a process", err)
}

// openedSession is EventSession in any transaction. ErrNotFound: the session was forgotten, or never opened.
func openedSession(ctx context.Context, q sqlite.Querier, process string, n int) (id int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT session FROM attachments WHERE process = ? AND n = ?`, process, n).Scan(&id)
	return id, orNotFound(err)
}
