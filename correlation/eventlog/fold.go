package eventlog

import (
	"encoding/json"
	"errors"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// A stepResult says what one transaction has folded in.
type stepResult struct {
	events     int
	ended      bool          // a turn has ended, or has text
	gone       map[int]bool  // numbers of sessions that the database does not have: they were forgotten
	opened     map[int]int64 // rows by number of sessions that were opened
	closed     []int         // numbers of sessions that the client has closed
	to         int64         // offset up to which the file is folded in
	superseded bool          // this file is folded in, and a later one of the process is being
	atEnd      bool          // there was no whole line to fold in
}

// A folding is the work of one transaction.
type folding struct {
	stepResult
	b   *correlation.Batch
	log zerolog.Logger
}

// apply folds one event in. Events of what was forgotten, and those that come too late to change a state, are passed
// over.
func (f *folding) apply(e Event) error {
	guard.Point("folding " + kindOf(e))
	err := e.fold(f)
	switch {
	case errors.Is(err, correlation.ErrNotFound):
		return nil
	case errors.Is(err, correlation.ErrStateChanged), errors.Is(err, correlation.ErrIllegalStep):
		f.log.Info().Err(err).Str("event", kindOf(e)).Msg("an event that came too late")
		return nil
	}
	return err
}

// session returns the row of a session. ErrNotFound: it was forgotten.
func (f *folding) session(n int) (int64, error) {
	id, err := f.b.Session(n)
	if errors.Is(err, correlation.ErrNotFound) {
		f.gone[n] = true
	}
	return id, err
}

// turnOrNone returns the row of a turn, 0 for none.
func (f *folding) turnOrNone(n int) (int64, error) {
	if n == 0 {
		return 0, nil
	}
	turn, _, err := f.b.Turn(n)
	if errors.Is(err, correlation.ErrNotFound) {
		return 0, nil
	}
	return turn, err
}

// record adds an event to the table of events, with the fields of e.
func (f *folding) record(e Event, session, turn int64) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return f.b.AddEvent(kindOf(e), session, turn, data)
}

// inSession changes a session, and records the event.
func (f *folding) inSession(e Event, n int, do func(row int64) error) error {
	row, err := f.session(n)
	if err != nil {
		return err
	}
	if err := do(row); err != nil {
		return err
	}
	return f.record(e, row, 0)
}

// inTurn changes a turn.
func (f *folding) inTurn(n int, do func(turn, session int64) error) error {
	turn, session, err := f.b.Turn(n)
	if err != nil {
		return err
	}
	return do(turn, session)
}

func (e Opened) fold(f *folding) error {
	v, err := f.b.Open(e.Session, e.Open, e.Fork, e.Continues)
	if err != nil {
		return err
	}
	f.opened[e.Session] = v.ID
	delete(f.gone, e.Session)
	return f.record(e, v.ID, 0)
}

func (e Stepped) fold(f *folding) error {
	return f.inSession(e, e.Session, func(row int64) error { return f.b.Step(row, e.From, e.Event) })
}

func (e Closed) fold(f *folding) error {
	f.closed = append(f.closed, e.Session)
	return f.inSession(e, e.Session, func(row int64) error { return f.b.Leave(row, e.Reason) })
}

func (e Rekeyed) fold(f *folding) error {
	return f.inSession(e, e.Session, func(row int64) error {
		if e.Spent != "" { // the daemon may know it
			if err := f.b.Rekey(row, e.Spent); err != nil {
				return err
			}
			if err := f.b.StartKey(e.Spent, ""); err != nil {
				return err
			}
		}
		return f.b.Rekey(row, e.Key)
	})
}

func (e RecordKnown) fold(f *folding) error {
	return f.inSession(e, e.Session, func(row int64) error { return f.b.SetRecord(row, e.Record) })
}

func (e ParentKnown) fold(f *folding) error {
	return f.inSession(e, e.Session, func(row int64) error { return f.b.SetParent(row, e.Key) })
}

func (e Titled) fold(f *folding) error {
	return f.inSession(Titled{Session: e.Session}, e.Session, func(row int64) error { // the title is in its table
		return f.b.SetSessionTitle(row, e.Title)
	})
}

func (e Injected) fold(f *folding) error {
	row, err := f.session(e.Session)
	if err != nil {
		return err
	}
	in := e.Injection
	in.Session = row
	if err := f.b.Record(in); err != nil {
		return err
	}
	turn, err := f.turnOrNone(e.Turn)
	if err != nil {
		return err
	}
	short := e
	short.Injection.Text = "" // the ledger has it
	return f.record(short, row, turn)
}

func (e ContextStored) fold(f *folding) error {
	row, err := f.session(e.Session)
	if err != nil {
		return err
	}
	if err := f.b.SaveContext(row, e.Key, e.Context, e.Fetched); err != nil {
		return err
	}
	e.Context = json.RawMessage("null") // it may be large, and is in its table
	return f.record(e, row, 0)
}

func (e ContextDropped) fold(f *folding) error {
	return f.inSession(e, e.Session, func(row int64) error { return f.b.DropContext(row) })
}

func (e Compacting) fold(f *folding) error {
	return f.inSession(e, e.Session, func(int64) error { return nil })
}

func (e Warned) fold(f *folding) error {
	return f.inSession(e, e.Session, func(int64) error { return nil })
}

func (e Summarised) fold(f *folding) error {
	row, err := f.session(e.Session)
	if err != nil {
		return err
	}
	debt := correlation.Debt{Session: row, Kind: correlation.KindCompaction, Reason: "compaction", Payload: e.Text}
	if err := f.b.Owe(debt); err != nil {
		return err
	}
	return f.record(Summarised{Session: e.Session}, row, 0)
}

func (e TurnBegan) fold(f *folding) error {
	row, err := f.session(e.Session)
	if err != nil {
		return err
	}
	turn, err := f.b.BeginTurn(e.Turn, row, e.Key, e.Delegation)
	if err != nil {
		return err
	}
	return f.record(e, row, turn)
}

func (e UserSaid) fold(f *folding) error {
	return f.inTurn(e.Turn, func(turn, _ int64) error { return f.b.AddPrompt(turn, e.Text, e.Cut) })
}

func (e Said) fold(f *folding) error {
	return f.inTurn(e.Turn, func(turn, _ int64) error {
		f.ended = true
		return f.b.AddAnswer(turn, e.Text, e.Skipped)
	})
}

func (e ToolUsed) fold(f *folding) error {
	return f.inTurn(e.Turn, func(turn, session int64) error {
		if err := f.b.AddToolCall(turn, e.Tool); err != nil {
			return err
		}
		return f.record(e, session, turn)
	})
}

func (e Noted) fold(f *folding) error {
	return f.inTurn(e.Turn, func(turn, session int64) error { return f.record(e, session, turn) })
}

func (e TurnTold) fold(f *folding) error {
	row, err := f.session(e.Session)
	if err != nil {
		return err
	}
	turn, had := e.Whole.ID, 0
	if turn != 0 {
		had, err = f.b.GrowTurn(e.Whole)
	} else {
		turn, err = f.b.AddTurn(row, e.Whole)
	}
	if err != nil {
		return err
	}
	f.b.At(e.Whole.Started)
	for _, event := range e.events(e.Whole.ID == 0, had) {
		if err := f.record(event, row, turn); err != nil {
			return err
		}
	}
	f.b.At(e.Whole.Ended)
	return f.record(TurnEnded{Stop: e.Whole.Stop}, row, turn)
}

// events are those that the turn would have had, but for its end; of one that is there, after so many calls of tools.
func (e TurnTold) events(isNew bool, had int) (events []Event) {
	if isNew {
		events = append(events, TurnBegan{Session: e.Session, Command: e.Command})
		for _, what := range e.Notes {
			events = append(events, Noted{What: what})
		}
	}
	for _, call := range e.Whole.Tools[min(had, len(e.Whole.Tools)):] {
		events = append(events, ToolUsed{Tool: call})
	}
	return events
}

func (e TraceKnown) fold(f *folding) error {
	return f.inTurn(e.Turn, func(turn, session int64) error { return f.record(e, session, turn) })
}

func (e UsageReported) fold(f *folding) error {
	row, err := f.session(e.Session)
	if err != nil {
		return err
	}
	turn, err := f.turnOrNone(e.Turn)
	if err != nil {
		return err
	}
	return f.b.AddUsage(row, turn, e.Usage)
}

func (e TurnEnded) fold(f *folding) error {
	return f.inTurn(e.Turn, func(turn, session int64) error {
		f.ended = true
		if err := f.b.EndTurn(turn, session, e.Stop, e.Code, e.Lost > 0); err != nil {
			return err
		}
		return f.record(e, session, turn)
	})
}

func (e KeyStarted) fold(f *folding) error { return f.b.StartKey(e.Key, e.AgentID) }

func (e DaemonAnswered) fold(f *folding) error {
	return f.b.SawDaemon(e.SignetPath, e.URL, e.Version)
}

func (e ProcessEnded) fold(f *folding) error {
	if err := f.b.End(e.Reason); err != nil {
		return err
	}
	return f.record(e, 0, 0)
}

func (Erased) fold(*folding) error { return nil }

// fold records an event that this version does not know, with the session and turn that it names.
func (u unknown) fold(f *folding) error {
	session, turn := int64(0), int64(0)
	var err error
	if u.session != 0 {
		if session, err = f.session(u.session); err != nil {
			return err
		}
	}
	if u.turn != 0 {
		if turn, session, err = f.b.Turn(u.turn); err != nil {
			return err
		}
	}
	return f.b.AddEvent(u.name, session, turn, u.line)
}
