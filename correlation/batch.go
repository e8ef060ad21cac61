package correlation

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
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
		if err := f(b); err != nil {
			return err
		}
		return b.setActive()
	})
}

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
		return 0, 0, nil
	}
	return file, position, err
}

// SetPosition notes how far the process's files are folded in with this batch.
func (b *Batch) SetPosition(file int, position int64) error {
	_, err := b.tx.ExecContext(b.ctx, `INSERT INTO event_files (process, file, position, at) VALUES (?, ?, ?, ?)
		ON CONFLICT (process) DO UPDATE SET file = excluded.file, position = excluded.position, at = excluded.at`,
		b.process, file, position, sqlite.Stamp(b.store.now()))
	return err
}

// Register writes the process's row, unless it is there.
func (b *Batch) Register(info ProcessInfo) error {
	info.ID = b.process
	return register(b.ctx, b.tx, info, b.store.now())
}

// Open does what Store.Open does, for the process, and gives the session the number n. fork and continues, if not 0,
// are numbers of sessions whose rows become ForkOf and ContinueOf.
func (b *Batch) Open(n int, o OpenSession, fork, continues int) (Session, error) {
	var err error
	if fork != 0 {
		o.ForkOf, err = b.sessionOrNone(fork)
	}
	if err == nil && continues != 0 {
		o.ContinueOf, err = b.sessionOrNone(continues)
	}
	if err != nil {
		return Session{}, err
	}
	o.Process = b.process
	v, err := b.store.open(b.ctx, b.tx, o)
	if errors.Is(err, ErrNotFound) { // the session that it came from was forgotten
		o.ForkOf, o.ContinueOf = 0, 0
		v, err = b.store.open(b.ctx, b.tx, o)
	}
	if err != nil {
		return Session{}, err
	}
	_, err = b.tx.ExecContext(b.ctx, `INSERT INTO event_sessions (process, n, session) VALUES (?, ?, ?)
		ON CONFLICT (process, n) DO UPDATE SET session = excluded.session`, b.process, n, v.ID)
	b.sessions[n] = v.ID
	return v, err
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

// sessionOrNone is Session, with 0 in place of ErrNotFound.
func (b *Batch) sessionOrNone(n int) (int64, error) {
	id, err := b.Session(n)
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	return id, err
}

// Step does what Store.Step does.
func (b *Batch) Step(session int64, from []State, e Event) error {
	_, err := b.store.step(b.ctx, b.tx, session, b.process, from, e)
	return err
}

// Leave does what Process.Leave does.
func (b *Batch) Leave(session int64, reason string) error {
	return b.store.leave(b.ctx, b.tx, b.process, session, reason)
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

// Owe does what Process.Owe does.
func (b *Batch) Owe(debt Debt) error { return b.store.owe(b.ctx, b.tx, b.process, debt) }

// SawDaemon does what Store.SawDaemon does.
func (b *Batch) SawDaemon(signetPath, url, version string) error {
	return b.store.sawDaemon(b.ctx, b.tx, signetPath, url, version)
}

// Record does what Store.Record does.
func (b *Batch) Record(in Injection) error {
	in.At, in.Outcome = b.store.now(), Kept
	_, err := insertInjection(b.ctx, b.tx, in)
	return err
}

// SetRecord does what Store.SetRecord does.
func (b *Batch) SetRecord(session int64, record string) error {
	_, err := b.tx.ExecContext(b.ctx, `UPDATE sessions SET record = ? WHERE id = ?`, record, session)
	return err
}

// SetParent notes the key of the session that this one works for.
func (b *Batch) SetParent(session int64, key string) error {
	_, err := b.tx.ExecContext(b.ctx, `UPDATE sessions SET parent_key = ? WHERE id = ?`, key, session)
	return err
}

// SetVersions notes the names and versions of client and harness, as far as they are not empty.
func (b *Batch) SetVersions(session int64, o OpenSession) error {
	versions := OpenSession{
		Client: o.Client, ClientVersion: o.ClientVersion, Agent: o.Agent, AgentVersion: o.AgentVersion,
	}
	return refreshSession(b.ctx, b.tx, session, versions, sqlite.Stamp(b.store.now()))
}

// Rekey does what Store.Rekey does.
func (b *Batch) Rekey(session int64, key string) error {
	return b.store.rekey(b.ctx, b.tx, session, key)
}

// StartKey notes that a session-start is being sent with key, on behalf of a Signet agent. The daemon may know the key
// from then on, whatever it answers. The key may be of a session that has no row yet, and never will if the process
// dies.
func (b *Batch) StartKey(key, agentID string) error {
	now := sqlite.Stamp(b.store.now())
	r, err := b.tx.ExecContext(b.ctx, `UPDATE session_keys SET started = ? WHERE key = ?`, now, key)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n > 0 {
		return err
	}
	_, err = b.tx.ExecContext(b.ctx, `INSERT INTO started_keys (key, process, agent_id, started) VALUES (?, ?, ?, ?)
		ON CONFLICT DO NOTHING`, key, b.process, agentID, now)
	return err
}

// SaveContext does what Store.SaveContext does.
func (b *Batch) SaveContext(session int64, key string, payload []byte, at time.Time) error {
	return saveContext(b.ctx, b.tx, session, key, payload, at)
}

// DropContext removes the session's stored context.
func (b *Batch) DropContext(session int64) error {
	_, err := b.tx.ExecContext(b.ctx, `DELETE FROM stored_contexts WHERE session = ?`, session)
	return err
}

// BeginTurn makes a turn with the number n, unless there is one. An empty key stands for the session's.
func (b *Batch) BeginTurn(n int, session int64, key string) (turn int64, err error) {
	if isNew, err := b.isNew(n); err != nil {
		return 0, err
	} else if !isNew {
		if turn, _, err := b.Turn(n); !errors.Is(err, ErrNotFound) {
			return turn, err
		}
	}
	now := b.store.now()
	t := Turn{Session: session, Key: key, Process: b.process, Started: now}
	row, err := rowOf(t)
	if err != nil {
		return 0, err
	}
	if turn, err = row.insert(b.ctx, b.tx, t); err != nil {
		return 0, err
	}
	if _, err := b.tx.ExecContext(b.ctx, `INSERT INTO event_turns (process, n, turn) VALUES (?, ?, ?)`,
		b.process, n, turn); err != nil {
		return 0, err
	}
	b.turns[n], b.lastTurn, b.answers[turn] = turnOf{turn, session}, max(b.lastTurn, n), &answer{}
	b.touch(session)
	return turn, nil
}

// isNew reports whether no turn with this number can have a row yet: numbers grow.
func (b *Batch) isNew(n int) (bool, error) {
	if b.lastTurn < 0 {
		err := b.tx.QueryRowContext(b.ctx, `SELECT coalesce(max(n), 0) FROM event_turns WHERE process = ?`,
			b.process).Scan(&b.lastTurn)
		if err != nil {
			return false, err
		}
	}
	return n > b.lastTurn, nil
}

// Turn returns the row of the turn with a number, and its session's, or ErrNotFound.
func (b *Batch) Turn(n int) (id, session int64, err error) {
	if t, known := b.turns[n]; known {
		return t.id, t.session, nil
	}
	err = b.tx.QueryRowContext(b.ctx, `SELECT t.id, t.session FROM event_turns e JOIN turns t ON t.id = e.turn
		WHERE e.process = ? AND e.n = ?`, b.process, n).Scan(&id, &session)
	if err == nil {
		b.turns[n] = turnOf{id, session}
	}
	return id, session, orNotFound(err)
}

// AddPrompt appends to what the person said in a turn. cut says that some of it is missing.
func (b *Batch) AddPrompt(turn int64, text string, cut bool) error {
	text, more := cutText(text)
	_, err := b.tx.ExecContext(b.ctx, `UPDATE turns SET user = iif(user = '', ?1, substr(user || ?2 || ?1, 1, ?3)),
		truncated = max(truncated, ?4), learned = 0 WHERE id = ?5`,
		text, "\n\n", MaxText, cut || more, turn)
	return err
}

// AddAnswer appends to the assistant's answer in a turn. skipped bytes before text are missing.
func (b *Batch) AddAnswer(turn int64, text string, skipped int) error {
	a, err := b.answer(turn)
	if err != nil {
		return err
	}
	head, left := a.head, a.omitted
	a.add(strings.ToValidUTF8(text, "\uFFFD"), skipped)
	_, err = b.tx.ExecContext(b.ctx, `UPDATE turns SET assistant = ?, truncated = max(truncated, ?), learned = 0
		WHERE id = ?`, a.text, a.omitted > 0, turn)
	if err == nil && (a.head != head || a.omitted != left) {
		_, err = b.tx.ExecContext(b.ctx, `UPDATE event_turns SET head = ?, left_out = ? WHERE turn = ?`,
			a.head, a.omitted, turn)
	}
	return err
}

// answer returns the assistant's answer in a turn so far.
func (b *Batch) answer(turn int64) (*answer, error) {
	if a := b.answers[turn]; a != nil {
		return a, nil
	}
	a := &answer{}
	err := b.tx.QueryRowContext(b.ctx, `SELECT t.assistant, e.head, e.left_out FROM turns t
		JOIN event_turns e ON e.turn = t.id WHERE t.id = ?`, turn).Scan(&a.text, &a.head, &a.omitted)
	if err != nil {
		return nil, orNotFound(err)
	}
	if a.head > len(a.text) { // it was cut because a person had some of it forgotten
		a.head, a.omitted = 0, 0
	}
	b.answers[turn] = a
	return a, nil
}

const (
	maxToolID    = 128 // bytes
	maxTitle     = 500
	maxWord      = 32 // of a kind and of a status, which the protocol enumerates
	maxLocations = 16
	maxLocation  = 512
)

// AddToolCall adds a tool call to a turn, or a later report to the call of the same id: fields that are empty stay as
// they were.
func (b *Batch) AddToolCall(turn int64, call ToolCall) error {
	var list []byte
	if err := b.tx.QueryRowContext(b.ctx, `SELECT tools FROM turns WHERE id = ?`, turn).Scan(&list); err != nil {
		return orNotFound(err)
	}
	var tools []ToolCall
	if err := json.Unmarshal(list, &tools); err != nil {
		tools = nil
	}
	call = call.bounded()
	i := slices.IndexFunc(tools, func(t ToolCall) bool { return t.ID == call.ID && call.ID != "" })
	switch {
	case i >= 0:
		tools[i].merge(call)
	case len(tools) >= MaxTools:
		_, err := b.tx.ExecContext(b.ctx, `UPDATE turns SET truncated = 1 WHERE id = ?`, turn)
		return err
	default:
		tools = append(tools, call)
	}
	list, err := json.Marshal(tools)
	if err != nil {
		return err
	}
	_, err = b.tx.ExecContext(b.ctx, `UPDATE turns SET tools = ?, learned = 0 WHERE id = ?`, string(list), turn)
	return err
}

// bounded returns the call cut to the sizes that are stored.
func (t ToolCall) bounded() ToolCall {
	t.ID, t.Title = chars.Cut(t.ID, maxToolID), chars.Cut(t.Title, maxTitle)
	t.Kind, t.Status = chars.Cut(t.Kind, maxWord), chars.Cut(t.Status, maxWord)
	t.Locations = slices.Clone(t.Locations[:min(len(t.Locations), maxLocations)])
	for i, at := range t.Locations {
		t.Locations[i] = chars.Cut(at, maxLocation)
	}
	return t
}

// merge takes over the fields of a later report that are not empty.
func (t *ToolCall) merge(later ToolCall) {
	set := func(have *string, now string) {
		if now != "" {
			*have = now
		}
	}
	set(&t.Title, later.Title)
	set(&t.Kind, later.Kind)
	set(&t.Status, later.Status)
	if len(later.Locations) > 0 {
		t.Locations = later.Locations
	}
	t.Milliseconds = max(t.Milliseconds, later.Milliseconds)
}

// EndTurn ends a turn, if it has not ended; only "unanswered" is replaced by a later stop reason. cut says that some of
// the turn is missing.
func (b *Batch) EndTurn(turn, session int64, stop string, code int, cut bool) error {
	_, err := b.tx.ExecContext(b.ctx, `UPDATE turns SET ended = iif(ended = 0, ?1, ended),
		stop = iif(ended = 0 OR stop = 'unanswered', ?2, stop), code = iif(ended = 0, ?3, code),
		truncated = max(truncated, ?4), learned = 0 WHERE id = ?5`, sqlite.Stamp(b.store.now()), stop, code, cut, turn)
	if err != nil {
		return err
	}
	b.touch(session)
	return nil
}

// touch notes that something was said in a session at the time of the event.
func (b *Batch) touch(session int64) { b.active[session] = latest(b.active[session], b.store.now()) }

// setActive stores when something was last said.
func (b *Batch) setActive() error {
	for session, at := range b.active {
		if _, err := b.tx.ExecContext(b.ctx, `UPDATE sessions SET last_active = max(last_active, ?) WHERE id = ?`,
			sqlite.Stamp(at), session); err != nil {
			return err
		}
	}
	return nil
}

// Usage is what a harness reported as used by a turn, or by its session so far. nil: not reported.
type Usage struct {
	Reporter    string          `json:"reporter"` // update, result, quota
	Input       *int64          `json:"input,omitempty"`
	Output      *int64          `json:"output,omitempty"`
	CachedRead  *int64          `json:"cachedRead,omitempty"`
	CachedWrite *int64          `json:"cachedWrite,omitempty"`
	Thought     *int64          `json:"thought,omitempty"`
	Total       *int64          `json:"total,omitempty"`
	ContextUsed *int64          `json:"contextUsed,omitempty"`
	ContextSize *int64          `json:"contextSize,omitempty"`
	Cost        *float64        `json:"cost,omitempty"`
	Currency    string          `json:"currency,omitempty"`
	Raw         json.RawMessage `json:"raw,omitempty"` // as it was reported
}

// AddUsage stores a report of usage of a session and, unless turn is 0, of a turn.
func (b *Batch) AddUsage(session, turn int64, u Usage) error {
	raw := string(u.Raw)
	if raw == "" {
		raw = "{}"
	}
	_, err := b.tx.ExecContext(b.ctx, `INSERT INTO usage (session, turn, at, reporter, input, output, cached_read,
		cached_write, thought, total, context_used, context_size, cost, currency, raw)
		VALUES (?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		session, turn, sqlite.Stamp(b.store.now()), u.Reporter, u.Input, u.Output, u.CachedRead, u.CachedWrite,
		u.Thought, u.Total, u.ContextUsed, u.ContextSize, u.Cost, u.Currency, raw)
	return err
}

// AddEvent adds a row to the table events. data is a JSON object without any text of the conversation. session and turn
// may be 0.
func (b *Batch) AddEvent(kind string, session, turn int64, data []byte) error {
	_, err := b.tx.ExecContext(b.ctx, `INSERT INTO events (at, kind, process, session, turn, data)
		VALUES (?, ?, ?, nullif(?, 0), nullif(?, 0), ?)`,
		sqlite.Stamp(b.store.now()), kind, b.process, session, turn, string(data))
	return err
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

// SetSessionTitle notes a session's title, as the harness has it.
func (b *Batch) SetSessionTitle(session int64, title string) error {
	_, err := b.tx.ExecContext(b.ctx, `UPDATE sessions SET title = ? WHERE id = ?`, title, session)
	return err
}
