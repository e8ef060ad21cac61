package correlation

import (
	"context"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/pace"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// maxImport is how many bytes of text one transaction of an import writes, give or take a turn. Conversations share it:
// each transaction writes a page of every index.
const maxImport = 128 << 10

// An Importer folds in what other programs have written down. It writes no file: they have one, and it can be read
// again. It is for one goroutine.
type Importer struct {
	Store   *Store
	Process string // that is registered
	Now     func() time.Time

	waiting []TurnTold // for Flush
	size    int        // bytes of these
	last    *Import    // whose session has the number n
	n       int
}

// TurnTold is a whole turn that another program has written down. It becomes the events that it would have had.
type TurnTold struct {
	Whole   Turn
	Command string
	Notes   []string // what of Noted

	of *Import
}

// Add folds in turns of a conversation that its session does not have (Import.NewTurns), after the event that opens
// it. Some wait for more of the same and other conversations, or for Flush. In a context of pace.Gently it pauses
// between transactions.
func (i *Importer) Add(ctx context.Context, of *Import, turns []TurnTold) error {
	for _, t := range turns {
		t.of = of
		i.waiting = append(i.waiting, t)
		if i.size += len(t.Whole.User) + len(t.Whole.Assistant); i.size < maxImport {
			continue
		}
		if err := i.Flush(ctx); err != nil {
			return err
		}
	}
	if of.Session.ID != 0 { // other conversations may be found by this session's names, too
		return i.Flush(ctx)
	}
	return nil
}

// Waits reports whether turns of a new session wait, by its ACP id. They are flushed before it is looked for.
func (i *Importer) Waits(acpID string) bool {
	return slices.ContainsFunc(i.waiting, func(t TurnTold) bool { return t.of.Open.ACPID == acpID })
}

// Flush folds in what waits, in one transaction.
func (i *Importer) Flush(ctx context.Context) error {
	if len(i.waiting) == 0 {
		return nil
	}
	began := time.Now()
	last, n := i.last, i.n
	err := i.Store.Batch(ctx, i.Process, func(b *Batch) error {
		for _, t := range i.waiting {
			if t.of != last {
				last, n = t.of, n+1
				b.At(i.Now())
				if last.Session.ID != 0 { // it does not become more recent by being looked at
					b.At(last.Session.LastActive)
				}
				if err := b.Apply(Opened{Session: n, Open: last.Open}); err != nil {
					return err
				}
			}
			if err := b.Tell(n, t); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	i.waiting, i.size, i.last, i.n = i.waiting[:0], 0, last, n
	pace.Pause(ctx, began)
	return nil
}

// Tell adds a turn to the session with a number, or completes the answer of one that an import has brought (Whole.ID).
func (b *Batch) Tell(n int, e TurnTold) error {
	session, err := b.session(n)
	if err != nil {
		return err
	}
	t, had := e.Whole, 0
	t.Session, t.Process = session, b.process
	if t.Started.IsZero() {
		t.Started = b.store.now()
	}
	b.active[session] = max(b.active[session], sqlite.Stamp(t.Started), sqlite.Stamp(t.Ended))
	if e.Whole.ID == 0 {
		t.ID, err = t.insert(b.ctx, b.tx, 0)
	} else {
		had, err = b.growTurn(t)
	}
	if err != nil {
		return err
	}
	var events []Event // those that it would have had; of one that is there, those that it has not had
	if e.Whole.ID == 0 {
		events = append(events, TurnBegan{Session: n, Command: e.Command})
		for _, what := range e.Notes {
			events = append(events, Noted{What: what})
		}
	}
	for _, call := range e.Whole.Tools[min(had, len(e.Whole.Tools)):] {
		events = append(events, ToolUsed{Tool: call})
	}
	b.At(t.Started)
	for _, event := range events {
		if err := b.record(event, session, t.ID); err != nil {
			return err
		}
	}
	b.At(t.Ended)
	return b.record(TurnEnded{Stop: t.Stop}, session, t.ID)
}

// growTurn writes a turn over what there is of it, and returns how many calls of tools it had. An answer of which
// something was forgotten is not overwritten: the given one still has that.
func (b *Batch) growTurn(t Turn) (had int, err error) {
	t, tools, err := t.bounded()
	if err != nil {
		return 0, err
	}
	had, err = sqlite.One[int](b.tx.QueryRowContext(b.ctx, `SELECT json_array_length(tools) FROM turns
		WHERE id = ?`, t.ID))
	if err != nil {
		return 0, orNotFound(err)
	}
	return had, b.exec(`UPDATE turns SET tools = ?3,
		assistant = iif(instr(assistant, ?8) > 0 AND substr(?2, 1, length(assistant)) <> assistant, assistant, ?2),
		truncated = max(truncated, ?4), learned = 0, ended = iif(ended = 0, ?5, ended), stop = iif(ended = 0, ?6, stop),
		code = iif(ended = 0, ?7, code) WHERE id = ?1`,
		t.ID, t.Assistant, tools, t.Truncated, sqlite.Stamp(t.Ended), t.Stop, t.Code, forgotten)
}
