package correlation

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// How each event of a session or a process is written; fold_turn.go has those of a turn.

func (e Stepped) fold(b *Batch) error {
	return b.inSession(e, e.Session, func(row int64) error { return b.step(row, e.From, e.Step) })
}

func (e Closed) fold(b *Batch) error {
	return b.inSession(e, e.Session, func(row int64) error {
		err := b.exec(`UPDATE attachments SET closed = 1 WHERE process = ? AND n = ?`, b.process, e.Session)
		if err != nil {
			return err
		}
		info, err := processByID(b.ctx, b.tx, b.process)
		if err != nil {
			return err
		}
		return b.store.oweFor(b.ctx, b.tx, info, row, e.Reason)
	})
}

func (e Rekeyed) fold(b *Batch) error {
	return b.inSession(e, e.Session, func(row int64) error {
		if e.Spent != "" { // the daemon may know it
			if err := errors.Join(b.addKey(row, e.Spent), KeyStarted{Key: e.Spent}.fold(b)); err != nil {
				return err
			}
		}
		return errors.Join(b.exec(`UPDATE sessions SET key = ? WHERE id = ?`, e.Key, row), b.addKey(row, e.Key))
	})
}

func (e RecordKnown) fold(b *Batch) error { return b.set(e, e.Session, `record = ?2`, e.Record) }

func (e ParentKnown) fold(b *Batch) error { return b.set(e, e.Session, `parent_key = ?2`, e.Key) }

func (e Titled) fold(b *Batch) error {
	return b.set(Titled{Session: e.Session}, e.Session, `title = ?2`, e.Title) // which is in its table
}

func (e Injected) fold(b *Batch) error {
	row, err := b.session(e.Session)
	if err != nil {
		return err
	}
	in := e.Injection
	in.Session, in.At, in.Outcome = row, b.store.now(), Kept
	if _, err := insertInjection(b.ctx, b.tx, in); err != nil {
		return err
	}
	turn, err := b.turnOrNone(e.Turn)
	if err != nil {
		return err
	}
	e.Injection.Text = "" // the ledger has it
	return b.record(e, row, turn)
}

// fold takes the claim that the prompt left without. One of this process for another block was granted too late.
func (e Unclaimed) fold(b *Batch) error {
	row, err := b.session(e.Session)
	if err != nil {
		return err
	}
	have, err := b.store.freshState(b.ctx, b.tx, row)
	if err != nil {
		return err
	}
	var claim int64
	var by string
	if err := b.tx.QueryRowContext(b.ctx, `SELECT claim, claim_by FROM sessions WHERE id = ?`,
		row).Scan(&claim, &by); err != nil {
		return err
	}
	in := e.Injection
	in.Session, in.At, in.Outcome = row, b.store.now(), Kept
	ours := have == e.From
	if have == InFlight && by == b.process {
		ours = true
		err = b.exec(`UPDATE injections SET outcome = ? WHERE id = ?`, WasRefused, claim)
	}
	if err == nil && ours {
		_, in.Outcome, err = b.store.nextState(row, e.From, Step{Name: Sent})
	}
	if err != nil {
		return err
	}
	if claim, err = insertInjection(b.ctx, b.tx, in); err != nil {
		return err
	}
	if ours {
		err = b.exec(`UPDATE sessions SET state = ?, claim = ?, claim_by = ?, claim_from = ?, last_active = ?
			WHERE id = ?`, InFlight, claim, b.process, e.From, b.now, row)
	}
	e.Injection.Text = "" // the ledger has it
	return errors.Join(err, b.record(e, row, 0))
}

func (e ContextStored) fold(b *Batch) error {
	payload := []byte(e.Context)
	e.Context = json.RawMessage("null") // it may be large, and is in its table
	return b.set(e, e.Session, `context_key = ?2, context_at = ?3, context = ?4`, e.Key, sqlite.Stamp(e.Fetched),
		payload)
}

func (e ContextDropped) fold(b *Batch) error { return b.set(e, e.Session, noContext) }

func (e Compacting) fold(b *Batch) error { return b.set(e, e.Session, ``) }

func (e Warned) fold(b *Batch) error { return b.set(e, e.Session, ``) }

// fold leaves a delivery of the summary, due at once, if the process owes the daemon anything.
func (e Summarised) fold(b *Batch) error {
	return b.inSession(Summarised{Session: e.Session}, e.Session, func(row int64) error {
		info, owes, err := b.store.debtor(b.ctx, b.tx, b.process)
		if err != nil || !owes || e.Text == "" {
			return err
		}
		return oweText(b.ctx, b.tx, row, b.now, Debt{Kind: KindCompaction, Reason: KindCompaction, URL: info.URL,
			Payload: e.Text})
	})
}

func (e UsageReported) fold(b *Batch) error {
	row, err := b.session(e.Session)
	if err != nil {
		return err
	}
	turn, err := b.turnOrNone(e.Turn)
	if err != nil {
		return err
	}
	u := e.Usage
	raw := string(u.Raw)
	if raw == "" {
		raw = "{}"
	}
	return b.exec(`INSERT INTO usage (session, turn, at, reporter, input, output, cached_read,
		cached_write, thought, total, context_used, context_size, cost, currency, raw)
		VALUES (?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		row, turn, b.now, u.Reporter, u.Input, u.Output, u.CachedRead, u.CachedWrite,
		u.Thought, u.Total, u.ContextUsed, u.ContextSize, u.Cost, u.Currency, raw)
}

// fold notes the key, which has to be ended again if it was. It may be of a session that has no row yet, and never will
// if the process dies.
func (e KeyStarted) fold(b *Batch) error {
	const here = `(SELECT coalesce(max(url), '') FROM processes WHERE id = ?3)` // where the daemon is
	n, err := sqlite.Change(b.ctx, b.tx, `UPDATE session_keys SET started = ?1, ended = 0, held = CASE
			WHEN ended > 0 THEN json_array(`+here+`)
			WHEN EXISTS (SELECT 1 FROM json_each(held) WHERE value = `+here+`) THEN held
			ELSE json_insert(held, '$[#]', `+here+`) END
		WHERE key = ?2`, b.now, e.Key, b.process)
	if err != nil || n > 0 {
		return err
	}
	return b.exec(`INSERT INTO session_keys (key, created, started, process, agent_id, held)
		VALUES (?1, ?2, ?2, ?3, ?4, json_array(`+here+`))`, e.Key, b.now, b.process, e.AgentID)
}

func (e DaemonAnswered) fold(b *Batch) error {
	return b.exec(`INSERT INTO noted (kind, name, at, value)
		VALUES ('daemon', ?, ?, json_object('url', ?, 'version', ?))
		ON CONFLICT DO UPDATE SET at = excluded.at, value = excluded.value`, e.SignetPath, b.now, e.URL, e.Version)
}

func (e ProcessEnded) fold(b *Batch) error {
	if err := b.End(e.Reason); err != nil {
		return err
	}
	return b.record(e, 0, 0)
}

func (Erased) fold(*Batch) error { return nil }

// fold records an event that this version does not know, with the session and turn that it names.
func (u unknown) fold(b *Batch) error {
	var session, turn int64
	var err error
	if u.Session != 0 {
		if session, err = b.session(u.Session); err != nil {
			return err
		}
	}
	if u.Turn != 0 {
		if turn, session, err = b.turn(u.Turn); err != nil {
			return err
		}
	}
	return b.addEvent(u.kind, session, turn, u.data)
}

// session returns the row of the session with a number. ErrNotFound: it was forgotten.
func (b *Batch) session(n int) (id int64, err error) {
	if id, known := b.sessions[n]; known {
		return id, nil
	}
	if id, err = openedSession(b.ctx, b.tx, b.process, n); err == nil {
		b.sessions[n] = id
	} else if errors.Is(err, ErrNotFound) {
		b.Gone[n] = true
	}
	return id, err
}

// set sets columns of a session, from ?2 on, or none, and records the event.
func (b *Batch) set(e Event, n int, columns string, values ...any) error {
	return b.inSession(e, n, func(row int64) error {
		if columns == "" {
			return nil
		}
		return b.exec(`UPDATE sessions SET `+columns+` WHERE id = ?1`, append([]any{row}, values...)...)
	})
}

// inSession changes a session, and records the event.
func (b *Batch) inSession(e Event, n int, change func(row int64) error) error {
	row, err := b.session(n)
	if err != nil {
		return err
	}
	if err := change(row); err != nil {
		return err
	}
	return b.record(e, row, 0)
}

// record adds an event to the table of events. Text of the conversation is to be taken out of it before.
func (b *Batch) record(e Event, session, turn int64) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return b.addEvent(KindOf(e), session, turn, data)
}

// addEvent adds a row to the table of events. session and turn may be 0.
func (b *Batch) addEvent(kind string, session, turn int64, data []byte) error {
	return b.exec(`INSERT INTO events (at, kind, process, session, turn, data)
		VALUES (?, ?, ?, nullif(?, 0), nullif(?, 0), ?)`, b.now, kind, b.process, session, turn, string(data))
}

// step takes a step of a session that is in one of the states in from (nil: in any). Steps that settle a claim do so
// only for the process that made it; Step.From is taken from the claim. Sent is not allowed: that is Store.Claim.
func (b *Batch) step(session int64, from []State, s Step) error {
	have, err := b.store.freshState(b.ctx, b.tx, session)
	if err != nil {
		return err
	}
	var claim int64
	var by string
	if err := b.tx.QueryRowContext(b.ctx, `SELECT claim, claim_by, claim_from FROM sessions WHERE id = ?`,
		session).Scan(&claim, &by, &s.From); err != nil {
		return err
	}
	if s.settles() && have == Doubt && by == b.process {
		have = InFlight // the process was taken for dead, but it had recorded this
	}
	if from != nil && !slices.Contains(from, have) || s.settles() && (have != InFlight || by != b.process) {
		return changedTo(have)
	}
	if s.Name == Sent {
		return IllegalStep(have, s.Name)
	}
	next, outcome, err := b.store.nextState(session, have, s)
	if err == nil && outcome != Unsettled {
		err = b.exec(`UPDATE injections SET outcome = ? WHERE id = ?`, outcome, claim)
	}
	if err != nil {
		return err
	}
	return b.exec(`UPDATE sessions SET state = ?1, claim_by = iif(?1 = ?2, claim_by, ''),
		last_active = max(last_active, ?3) WHERE id = ?4`, next, InFlight, b.now, session)
}

// addKey makes key the last in a session's sequence, taking it from another session if that had it.
func (b *Batch) addKey(session int64, key string) error {
	return b.exec(`INSERT INTO session_keys (key, session, n, created)
		VALUES (?1, ?2, (SELECT coalesce(max(n), 0) + 1 FROM session_keys WHERE session = ?2), ?3)
		ON CONFLICT (key) DO UPDATE SET session = excluded.session, n = excluded.n`, key, session, b.now)
}
