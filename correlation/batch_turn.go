package correlation

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// BeginTurn makes a turn with the number n, unless there is one. An empty key stands for the session's; delegation is
// Turn.Delegation.
func (b *Batch) BeginTurn(n int, session int64, key, delegation string) (turn int64, err error) {
	if isNew, err := b.isNew(n); err != nil {
		return 0, err
	} else if !isNew {
		if turn, _, err := b.Turn(n); !errors.Is(err, ErrNotFound) {
			return turn, err
		}
	}
	now := b.store.now()
	t := Turn{Session: session, Key: key, Process: b.process, Delegation: delegation, Started: now}
	row, err := rowOf(t)
	if err != nil {
		return 0, err
	}
	if turn, err = row.insert(b.ctx, b.tx, t); err != nil {
		return 0, err
	}
	if err := b.exec(`INSERT INTO event_turns (process, n, turn) VALUES (?, ?, ?)`, b.process, n, turn); err != nil {
		return 0, err
	}
	b.turns[n], b.lastTurn, b.answers[turn] = turnOf{turn, session}, max(b.lastTurn, n), &answer{}
	b.touch(session)
	return turn, nil
}

// GrowTurn completes the answer of a turn that an import has brought, and returns how many calls of tools it had. An
// answer of which something was forgotten is not overwritten: the caller's still has that.
func (b *Batch) GrowTurn(t Turn) (tools int, err error) {
	var session int64
	err = b.tx.QueryRowContext(b.ctx, `SELECT json_array_length(tools), session FROM turns WHERE id = ?`, t.ID).
		Scan(&tools, &session)
	if err != nil {
		return 0, orNotFound(err)
	}
	row, err := rowOf(t)
	if err != nil {
		return 0, err
	}
	b.active[session] = latest(b.active[session], t.Ended)
	return tools, b.exec(`UPDATE turns SET tools = ?3,
		assistant = iif(instr(assistant, ?8) > 0 AND substr(?2, 1, length(assistant)) <> assistant, assistant, ?2),
		truncated = max(truncated, ?4), learned = 0, ended = iif(ended = 0, ?5, ended), stop = iif(ended = 0, ?6, stop),
		code = iif(ended = 0, ?7, code) WHERE id = ?1`,
		t.ID, row.assistant, row.tools, row.truncated, sqlite.Stamp(t.Ended), t.Stop, t.Code, forgotten)
}

// AddTurn adds a whole turn that another program has written down, as old as it is.
func (b *Batch) AddTurn(session int64, t Turn) (turn int64, err error) {
	t.Session, t.Process = session, b.process
	if t.Started.IsZero() {
		t.Started = b.store.now()
	}
	row, err := rowOf(t)
	if err != nil {
		return 0, err
	}
	b.active[session] = latest(b.active[session], t.Started, t.Ended)
	return row.insert(b.ctx, b.tx, t)
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
	return b.exec(`UPDATE turns SET user = iif(user = '', ?1, substr(user || ?2 || ?1, 1, ?3)),
		truncated = max(truncated, ?4), learned = 0 WHERE id = ?5`,
		text, "\n\n", MaxText, cut || more, turn)
}

// AddAnswer appends to the assistant's answer in a turn. skipped bytes before text are missing.
func (b *Batch) AddAnswer(turn int64, text string, skipped int) error {
	a, err := b.answer(turn)
	if err != nil {
		return err
	}
	head, left := a.head, a.omitted
	a.add(strings.ToValidUTF8(text, "\uFFFD"), skipped)
	err = b.exec(`UPDATE turns SET assistant = ?, truncated = max(truncated, ?), learned = 0
		WHERE id = ?`, a.text, a.omitted > 0, turn)
	if err == nil && (a.head != head || a.omitted != left) {
		err = b.exec(`UPDATE event_turns SET head = ?, left_out = ? WHERE turn = ?`,
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
		tools[i].Merge(call)
	case len(tools) >= MaxTools:
		return b.exec(`UPDATE turns SET truncated = 1 WHERE id = ?`, turn)
	default:
		tools = append(tools, call)
	}
	list, err := json.Marshal(tools)
	if err != nil {
		return err
	}
	return b.exec(`UPDATE turns SET tools = ?, learned = 0 WHERE id = ?`, string(list), turn)
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

// Merge takes over the fields of a later report that are not empty.
func (t *ToolCall) Merge(later ToolCall) {
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
	b.touch(session)
	return b.exec(`UPDATE turns SET ended = iif(ended = 0, ?1, ended),
		stop = iif(ended = 0 OR stop = 'unanswered', ?2, stop), code = iif(ended = 0, ?3, code),
		truncated = max(truncated, ?4), learned = 0 WHERE id = ?5`, b.now(), stop, code, cut, turn)
}

// touch notes that something was said in a session at the time of the event.
func (b *Batch) touch(session int64) { b.active[session] = latest(b.active[session], b.store.now()) }
