package correlation

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// An Event is something that happened in a process, and knows how it is folded into the database. Its fields Session
// and Turn are numbers by which the process counts its sessions and turns, from 1 on; 0 for none.
type Event interface {
	fold(*Batch) error
}

// A Batch is a transaction in which events of a process's file are folded in.
type Batch struct {
	Changes
	ctx     context.Context
	tx      *sql.Tx
	store   Store // a copy, with the time of the event as its clock
	process string

	// caches, because a query costs more than a change
	sessions map[int]int64       // rows by number
	turns    map[int]turnOf      // by number
	lastTurn int                 // the highest number of a turn that has a row; -1: not queried yet
	answers  map[int64]*answer   // by the turn's row
	active   map[int64]time.Time // when something was last said, by the session's row
}

// Changes are what a process has to know of what its events have changed. Numbers are those of its file.
type Changes struct {
	Spoke  bool          // a turn has ended, or has more text
	Gone   map[int]bool  // numbers of sessions that the database does not have: they were forgotten
	Opened map[int]int64 // rows by number of sessions that were opened
	Closed []int         // numbers of sessions that the client has closed
}

type turnOf struct{ id, session int64 }

// Batch runs f in a transaction for the file of a process. Keep it short, because claims wait for it.
func (s *Store) Batch(ctx context.Context, process string, f func(*Batch) error) error {
	return sqlite.Write(ctx, s.db, "folding events in", func(tx *sql.Tx) error {
		b := &Batch{
			Changes: Changes{Gone: map[int]bool{}, Opened: map[int]int64{}},
			ctx:     ctx, tx: tx, store: *s, process: process,
			sessions: map[int]int64{}, turns: map[int]turnOf{}, lastTurn: -1,
			answers: map[int64]*answer{}, active: map[int64]time.Time{},
		}
		err := f(b)
		for session, at := range b.active {
			if err == nil {
				err = b.exec(`UPDATE sessions SET last_active = max(last_active, ?) WHERE id = ?`, sqlite.Stamp(at),
					session)
			}
		}
		return err
	})
}

func (b *Batch) exec(query string, args ...any) error {
	_, err := b.tx.ExecContext(b.ctx, query, args...)
	return err
}

// now is the time of the event, as the database stores it.
func (b *Batch) now() int64 { return sqlite.Stamp(b.store.now()) }

// At sets the time at which the following events happened.
func (b *Batch) At(at time.Time) { b.store.now = func() time.Time { return at } }

// Apply folds an event in. ErrNotFound says that its session or turn has no row, because it was never opened or was
// forgotten, ErrStateChanged and ErrIllegalStep that it came too late. After any other error the function that got the
// Batch has to return the error.
func (b *Batch) Apply(e Event) error { return e.fold(b) }

// Position returns how far the process's files are folded in: up to the byte offset position in the file of that
// number. Both are 0 if nothing is.
func (b *Batch) Position() (file int, position int64, err error) {
	return eventPosition(b.ctx, b.tx, b.process)
}

// EventPosition is Batch.Position outside of a transaction.
func (s *Store) EventPosition(ctx context.Context, process string) (file int, position int64, err error) {
	file, position, err = eventPosition(ctx, s.db, process)
	return file, position, sqlite.While("looking up how far a file is folded in", err)
}

func eventPosition(ctx context.Context, q sqlite.Querier, process string) (file int, position int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT file, position FROM event_files WHERE process = ?`,
		process).Scan(&file, &position)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return file, position, err
}

// SetPosition notes how far the process's files are folded in with this batch.
func (b *Batch) SetPosition(file int, position int64) error {
	return b.exec(`INSERT INTO event_files (process, file, position, at) VALUES (?, ?, ?, ?)
		ON CONFLICT (process) DO UPDATE SET file = excluded.file, position = excluded.position, at = excluded.at`,
		b.process, file, position, b.now())
}

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

// Register writes the process's row, unless it is there.
func (b *Batch) Register(info ProcessInfo) error {
	return register(b.ctx, b.tx, info, b.store.now())
}

// EventSession returns the row of the session with a number in the file of a process, or ErrNotFound.
func (s *Store) EventSession(ctx context.Context, process string, n int) (id int64, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT session FROM event_sessions WHERE process = ? AND n = ?`,
		process, n).Scan(&id)
	return id, sqlite.While("looking up a session of a file", orNotFound(err))
}

// FileRemoved forgets the numbers and the position of a process whose files are folded in and removed.
func (s *Store) FileRemoved(ctx context.Context, process string) error {
	return s.write(ctx, "noting that a file is folded in", func(tx *sql.Tx) error {
		for _, table := range []string{"event_files", "event_sessions", "event_turns"} {
			if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE process = ?`, process); err != nil {
				return err
			}
		}
		return nil
	})
}

// EventNumbers says of which session a number in a process's file of events is.
type EventNumbers struct {
	Process string
	N       int
	Turn    bool  // it is the number of a turn; else of a session
	Session int64 // the row of the session, or of the turn's
}

// EventNumbers returns the numbers in the files of all processes.
func (s *Store) EventNumbers(ctx context.Context) ([]EventNumbers, error) {
	return collect(ctx, s, "reading what files of events stand for", func(row sqlite.Row) (n EventNumbers, err error) {
		return n, row.Scan(&n.Process, &n.N, &n.Turn, &n.Session)
	}, `SELECT process, n, 0, session FROM event_sessions UNION ALL SELECT e.process, e.n, 1, t.session
		FROM event_turns e JOIN turns t ON t.id = e.turn`)
}
