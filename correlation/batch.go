package correlation

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A Batch is a transaction in which package eventlog folds in events of a process's file. Parameters n, fork and
// continues are numbers of sessions and turns in that file; parameters session and turn are rows. ErrNotFound says that
// a number has no row, because the session was never opened or was forgotten. After any other error but ErrStateChanged
// and ErrIllegalStep the function that got the Batch has to return the error.
type Batch struct {
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

type turnOf struct{ id, session int64 }

// Batch runs f in a transaction for the file of a process. Keep it short, because claims wait for it.
func (s *Store) Batch(ctx context.Context, process string, f func(*Batch) error) error {
	return sqlite.Write(ctx, s.db, "folding events in", func(tx *sql.Tx) error {
		b := &Batch{
			ctx: ctx, tx: tx, store: *s, process: process,
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

// mustHit is exec; ErrNotFound: it changed no row.
func (b *Batch) mustHit(query string, args ...any) error {
	return sqlite.MustHit(b.ctx, b.tx, ErrNotFound, query, args...)
}

// now is the time of the event, as the database stores it.
func (b *Batch) now() int64 { return sqlite.Stamp(b.store.now()) }

// At sets the time at which the following changes happened.
func (b *Batch) At(at time.Time) { b.store.now = func() time.Time { return at } }

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

// Register writes the process's row, unless it is there.
func (b *Batch) Register(info ProcessInfo) error {
	return register(b.ctx, b.tx, info, b.store.now())
}

// Session returns the row of the session with a number, or ErrNotFound.
func (b *Batch) Session(n int) (id int64, err error) {
	if id, known := b.sessions[n]; known {
		return id, nil
	}
	err = b.tx.QueryRowContext(b.ctx, `SELECT session FROM event_sessions WHERE process = ? AND n = ?`,
		b.process, n).Scan(&id)
	if err == nil {
		b.sessions[n] = id
	}
	return id, orNotFound(err)
}

// Step applies an event to a session that is in one of the states in from (nil: in any). Events that settle a claim
// (Answered, Refused, Failed, Cancelled, Died) do so only for the process that made it; Event.From is taken from the
// claim. Sent is not allowed: that is Claim. Errors: a *StateError (ErrStateChanged), ErrIllegalStep, which is logged,
// or ErrNotFound.
func (b *Batch) Step(session int64, from []State, e Event) error {
	have, err := b.store.freshState(b.ctx, b.tx, session)
	if err != nil {
		return err
	}
	var claim int64
	var by string
	if err := b.tx.QueryRowContext(b.ctx, `SELECT claim, claim_by, claim_from FROM sessions WHERE id = ?`,
		session).Scan(&claim, &by, &e.From); err != nil {
		return err
	}
	if e.settles() && have == Doubt && by == b.process {
		have = InFlight // the process was taken for dead, but it had recorded this
	}
	if from != nil && !slices.Contains(from, have) || e.settles() && (have != InFlight || by != b.process) {
		return &StateError{have}
	}
	if e.Name == Sent {
		return b.store.illegal(session, have, e)
	}
	next, outcome, err := b.store.nextState(session, have, e)
	if err == nil && outcome != Unsettled {
		err = b.exec(`UPDATE injections SET outcome = ? WHERE id = ?`, outcome, claim)
	}
	if err != nil {
		return err
	}
	return b.exec(`UPDATE sessions SET state = ?1, claim_by = iif(?1 = ?2, claim_by, ''),
		last_active = max(last_active, ?3) WHERE id = ?4`, next, InFlight, b.now(), session)
}

// Leave detaches the process from a session that the client has closed or deleted: its open turns end, and what they
// owe is due.
func (b *Batch) Leave(session int64, reason string) error {
	if err := b.exec(`DELETE FROM attachments WHERE process = ? AND session = ?`, b.process, session); err != nil {
		return err
	}
	info, err := processByID(b.ctx, b.tx, b.process)
	if err != nil {
		return err
	}
	return b.store.oweFor(b.ctx, b.tx, info, session, reason)
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

// Owe leaves a delivery for a debt, due at once, if the process owes the daemon anything. End, Leave and SweepDead
// leave those for turns.
func (b *Batch) Owe(debt Debt) error {
	if debt.Payload == "" {
		return errors.New("nothing to deliver")
	}
	info, owes, err := b.store.debtor(b.ctx, b.tx, b.process)
	if err != nil || !owes {
		return err
	}
	return b.mustHit(`INSERT INTO deliveries (session, key, kind, reason, url, agent_id, state, created, owed, due,
		payload)
		SELECT id, key, ?1, ?2, ?3, agent_id, ?4, ?5, ?5, ?5, ?6 FROM sessions WHERE id = ?7`,
		debt.Kind, debt.Reason, info.url, Owed, b.now(), debt.Payload, debt.Session)
}

// SawDaemon notes that the daemon of a Signet path has answered.
func (b *Batch) SawDaemon(signetPath, url, version string) error {
	return b.exec(`INSERT INTO daemon_seen (signet_path, url, version, at) VALUES (?, ?, ?, ?)
		ON CONFLICT (signet_path) DO UPDATE SET url = excluded.url, version = excluded.version, at = excluded.at`,
		signetPath, url, version, b.now())
}

// Record records an injection that needed no claim and has been accepted.
func (b *Batch) Record(in Injection) error {
	in.At, in.Outcome = b.store.now(), Kept
	_, err := insertInjection(b.ctx, b.tx, in)
	return err
}

// SetRecord does what Store.SetRecord does.
func (b *Batch) SetRecord(session int64, record string) error {
	return b.exec(`UPDATE sessions SET record = ? WHERE id = ?`, record, session)
}

// SetSessionTitle notes a session's title, as the harness has it.
func (b *Batch) SetSessionTitle(session int64, title string) error {
	return b.exec(`UPDATE sessions SET title = ? WHERE id = ?`, title, session)
}

// SetParent notes the key of the session that this one works for.
func (b *Batch) SetParent(session int64, key string) error {
	return b.exec(`UPDATE sessions SET parent_key = ? WHERE id = ?`, key, session)
}

// Rekey gives a session a new current key.
func (b *Batch) Rekey(session int64, key string) error {
	if err := b.mustHit(`UPDATE sessions SET key = ? WHERE id = ?`, key, session); err != nil {
		return err
	}
	return b.addKey(session, key)
}

// addKey makes key the last in a session's sequence, taking it from another session if that had it.
func (b *Batch) addKey(session int64, key string) error {
	return b.exec(`INSERT INTO session_keys (key, session, n, created)
		VALUES (?1, ?2, (SELECT coalesce(max(n), 0) + 1 FROM session_keys WHERE session = ?2), ?3)
		ON CONFLICT (key) DO UPDATE SET session = excluded.session, n = excluded.n`, key, session, b.now())
}

// StartKey notes that a session-start is being sent with key, on behalf of a Signet agent. The daemon may know the key
// from then on, whatever it answers. The key may be of a session that has no row yet, and never will if the process
// dies.
func (b *Batch) StartKey(key, agentID string) error {
	err := b.mustHit(`UPDATE session_keys SET started = ? WHERE key = ?`, b.now(), key)
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	return b.exec(`INSERT INTO started_keys (key, process, agent_id, started) VALUES (?, ?, ?, ?)
		ON CONFLICT DO NOTHING`, key, b.process, agentID, b.now())
}

// SaveContext stores a context that was fetched with a key and is not used yet. It replaces an older one.
func (b *Batch) SaveContext(session int64, key string, payload []byte, at time.Time) error {
	if payload == nil {
		payload = []byte{}
	}
	return b.mustHit(`INSERT INTO stored_contexts (session, key, at, payload)
		SELECT id, ?, ?, ? FROM sessions WHERE id = ?
		ON CONFLICT (session) DO UPDATE
		SET key = excluded.key, at = excluded.at, payload = excluded.payload`, key, sqlite.Stamp(at), payload, session)
}

// DropContext removes the session's stored context.
func (b *Batch) DropContext(session int64) error {
	return b.exec(`DELETE FROM stored_contexts WHERE session = ?`, session)
}

// AddEvent adds a row to the table events. data is a JSON object without any text of the conversation. session and turn
// may be 0.
func (b *Batch) AddEvent(kind string, session, turn int64, data []byte) error {
	return b.exec(`INSERT INTO events (at, kind, process, session, turn, data)
		VALUES (?, ?, ?, nullif(?, 0), nullif(?, 0), ?)`, b.now(), kind, b.process, session, turn, string(data))
}

// EventSession is Batch.Session outside of a transaction.
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
