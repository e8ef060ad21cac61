package correlation

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// fold makes the turn.
func (e TurnBegan) fold(b *Batch) error {
	session, err := b.session(e.Session)
	if err != nil {
		return err
	}
	t := Turn{Session: session, Key: e.Key, Process: b.process, Delegation: e.Delegation, Started: b.store.now()}
	turn, err := t.insert(b.ctx, b.tx, e.Turn)
	if err != nil {
		return err
	}
	b.turns[e.Turn], b.answers[turn] = turnOf{turn, session}, &answer{}
	b.active[session] = max(b.active[session], b.now)
	return b.record(e, session, turn)
}

// turn returns the row of the turn with a number, and its session's, or ErrNotFound.
func (b *Batch) turn(n int) (id, session int64, err error) {
	if t, known := b.turns[n]; known {
		return t.id, t.session, nil
	}
	err = b.tx.QueryRowContext(b.ctx, `SELECT id, session FROM turns WHERE process = ? AND n = ? AND n > 0`,
		b.process, n).Scan(&id, &session)
	if err == nil {
		b.turns[n] = turnOf{id, session}
	}
	return id, session, orNotFound(err)
}

// turnOrNone returns the row of a turn, 0 for none.
func (b *Batch) turnOrNone(n int) (int64, error) {
	if n == 0 {
		return 0, nil
	}
	turn, _, err := b.turn(n)
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	return turn, err
}

func (e Noted) fold(b *Batch) error {
	turn, session, err := b.turn(e.Turn)
	if err != nil {
		return err
	}
	return b.record(e, session, turn)
}

func (e UserSaid) fold(b *Batch) error {
	turn, _, err := b.turn(e.Turn)
	if err != nil {
		return err
	}
	text, cut := cutText(e.Text)
	return b.exec(`UPDATE turns SET user = iif(user = '', ?1, substr(user || ?2 || ?1, 1, ?3)),
		truncated = max(truncated, ?4), learned = 0 WHERE id = ?5`,
		text, "\n\n", maxText, cut || e.Cut, turn)
}

func (e AssistantSaid) fold(b *Batch) error {
	turn, _, err := b.turn(e.Turn)
	if err != nil {
		return err
	}
	b.Spoke = true
	a, err := b.answer(turn)
	if err != nil {
		return err
	}
	a.add(strings.ToValidUTF8(e.Text, "\uFFFD"), e.Skipped)
	return b.exec(`UPDATE turns SET assistant = ?, head = ?, left_out = ?, truncated = max(truncated, ?), learned = 0
		WHERE id = ?`, a.text, a.head, a.omitted, a.omitted > 0, turn)
}

// answer returns the assistant's answer in a turn so far.
func (b *Batch) answer(turn int64) (*answer, error) {
	if a := b.answers[turn]; a != nil {
		return a, nil
	}
	a := &answer{}
	err := b.tx.QueryRowContext(b.ctx, `SELECT assistant, head, left_out FROM turns WHERE id = ?`,
		turn).Scan(&a.text, &a.head, &a.omitted)
	if err != nil {
		return nil, orNotFound(err)
	}
	if a.head > len(a.text) { // it was cut because a person had some of it forgotten
		a.head, a.omitted = 0, 0
	}
	b.answers[turn] = a
	return a, nil
}

// fold adds the call to the turn, or a later report to the call of the same id.
func (e ToolUsed) fold(b *Batch) error {
	turn, session, err := b.turn(e.Turn)
	if err != nil {
		return err
	}
	list, err := sqlite.One[[]byte](b.tx.QueryRowContext(b.ctx, `SELECT tools FROM turns WHERE id = ?`, turn))
	if err != nil {
		return orNotFound(err)
	}
	call := e.Tool.bounded()
	var tools []ToolCall
	if err := json.Unmarshal(list, &tools); err != nil {
		tools = nil
	}
	i := slices.IndexFunc(tools, func(t ToolCall) bool { return t.ID == call.ID && call.ID != "" })
	switch {
	case i >= 0:
		tools[i].Merge(call)
	case len(tools) >= MaxTools:
		return errors.Join(b.exec(`UPDATE turns SET truncated = 1 WHERE id = ?`, turn), b.record(e, session, turn))
	default:
		tools = append(tools, call)
	}
	if list, err = json.Marshal(tools); err != nil {
		return err
	}
	return errors.Join(b.exec(`UPDATE turns SET tools = ?, learned = 0 WHERE id = ?`, string(list), turn),
		b.record(e, session, turn))
}

// fold ends the turn, if it has not ended; only "unanswered" is replaced by a later stop reason.
func (e TurnEnded) fold(b *Batch) error {
	turn, session, err := b.turn(e.Turn)
	if err != nil {
		return err
	}
	b.Spoke, b.Ended = true, true
	b.active[session] = max(b.active[session], b.now)
	err = b.exec(`UPDATE turns SET ended = iif(ended = 0, ?1, ended),
		stop = iif(ended = 0 OR stop = 'unanswered', ?2, stop), code = iif(ended = 0, ?3, code),
		truncated = max(truncated, ?4), learned = 0 WHERE id = ?5`, b.now, e.Stop, e.Code, e.Lost > 0, turn)
	if err != nil {
		return err
	}
	return b.record(e, session, turn)
}
