package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// How the ledger is asked, beside the conversation, what it has of sessions and which sessions they continue.

// LookUp asks the ledger about a session until ctx ends.
func (e *env) LookUp(ctx context.Context, l *session.Lookup) {
	var answer session.LookedUp
	e.database.begin(ctx, "look-up", func(b *Backend) (err error) {
		if l.Recorded {
			if err := e.file.Folded(ctx); err != nil {
				return err
			}
		}
		var found session.Found
		if l.Kind == session.OpensNew {
			found.Record = e.o.Record("")
			err = e.continued(ctx, b.Ledger, l, &found)
		} else {
			err = e.byID(ctx, b, l, &found)
		}
		if err != nil {
			return err
		}
		guard.Point("look-up")
		var orphan bool
		var rows []int64
		e.talk.Tell(func(c *session.Connection) { orphan, rows = c.Found(l, found) })
		answer.Unknown = found.Known == nil && l.Kind != session.OpensNew
		if orphan && b.Parent != nil { // an agent that starts another through acpx runs a proxy inside a proxy
			key := b.Parent(ctx, l.Session.Known().Who.Cwd)
			answer.Parent = &key
		}
		return e.takeStored(ctx, b.Ledger, rows, &answer)
	}, func(err error) {
		answer.Err, answer.None = err, errors.Is(err, errNoLedger)
		if err != nil && !answer.None {
			e.o.Log.Warn().Err(err).Str("session", l.Session.Label()).Msg("looking a session up")
		}
		e.talk.Tell(func(c *session.Connection) { c.LookedUp(l, answer) })
	})
}

// FindRecord finds the acpx record of a session.
func (e *env) FindRecord(s *session.Session) {
	e.tasks.run("acpx's record", func() { e.findRecord(s) })
}

// takeStored takes a context that an earlier process has fetched and not used, if there is one.
func (e *env) takeStored(ctx context.Context, l Ledger, rows []int64, got *session.LookedUp) error {
	for _, row := range rows {
		if row == 0 {
			continue
		}
		payload, key, err := l.TakeContext(ctx, row, e.o.ContextAge)
		if isNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		var stored memory.Context
		if json.Unmarshal(payload, &stored) == nil && key != "" {
			got.Context, got.Key, got.Stored = stored, key, payload
			return nil
		}
	}
	return nil
}

// continued finds the session whose place a new one takes: the newest of the same acpx record.
func (e *env) continued(ctx context.Context, l Ledger, of *session.Lookup, found *session.Found) error {
	record := found.Record
	if record == "" {
		return nil
	}
	if of.Row != 0 { // of the session whose load has failed; its own record may not have been known yet
		return l.SetRecord(ctx, of.Row, record)
	}
	before, err := l.FindByRecord(ctx, record)
	if isNotFound(err) {
		before, err = l.Find(ctx, of.Harness, record) // a record is named after its first session
	}
	if isNotFound(err) || err == nil && (before.Cwd != of.Cwd || before.Harness != of.Harness) {
		return nil
	}
	if err == nil {
		found.Blocks, err = l.Injections(ctx, before.ID)
	}
	found.Known = &before
	return err
}

// byID finds a session by its harness and id.
func (e *env) byID(ctx context.Context, b *Backend, of *session.Lookup, found *session.Found) error {
	l := b.Ledger
	known, err := l.Find(ctx, of.Harness, of.ID)
	inFlight := err == nil && known.State == correlation.InFlight
	if (isNotFound(err) || inFlight) && !of.Had { // another process may just have made it, or answered and died
		within(ctx, "folding", e.o.HoldLimit/takeInShare, b.TakeIn)
		known, err = l.Find(ctx, of.Harness, of.ID)
	}
	if isNotFound(err) {
		return nil
	}
	if err == nil {
		found.Blocks, err = l.Injections(ctx, known.ID)
	}
	if err == nil && known.State == correlation.InFlight { // its process may have died since
		known.State, err = l.State(ctx, known.ID)
	}
	found.Known = &known
	return err
}

// findRecord finds the acpx record of a session.
func (e *env) findRecord(s *session.Session) {
	if record := e.o.Record(s.Known().ID); record != "" {
		e.talk.Tell(func(c *session.Connection) { c.RecordFound(s, record) })
	}
}

// findNewRecords finds the records of sessions that acpx has made without a queue owner: it writes a record's file only
// once it has the session's id.
func (e *env) findNewRecords() {
	var made []*session.Session
	e.talk.Do(func(c *session.Connection) { made = c.WithoutRecord(acpxName) })
	for _, s := range made {
		e.findRecord(s)
	}
}

// blocksOf returns the blocks of a session, from this connection or else from the ledger, oldest first, and its row
// there. here is the session, if this connection has it.
func (e *env) blocksOf(
	ctx context.Context, id string,
) (blocks []*session.Injection, row int64, here *session.Session) {
	var of session.Given
	e.talk.Do(func(c *session.Connection) { of = c.Given(id) })
	if of.Known {
		return of.Blocks, of.Row, of.Session
	}
	var one correlation.Session
	var stored []correlation.Injection
	if e.database.ask(ctx, func(b *Backend) (err error) {
		if one, err = b.Ledger.Find(ctx, e.harness(), id); err == nil {
			stored, err = b.Ledger.Injections(ctx, one.ID)
		}
		return err
	}) != nil {
		return nil, 0, of.Session
	}
	return oldestFirst(stored), one.ID, of.Session
}

// oldestFirst returns blocks that the ledger has, which come newest first.
func oldestFirst(stored []correlation.Injection) (blocks []*session.Injection) {
	for _, in := range slices.Backward(stored) {
		blocks = append(blocks, &session.Injection{Injection: in})
	}
	return blocks
}

// harness is the name under which sessions are stored.
func (e *env) harness() string { return cmp.Or(e.agent.Load().Name, e.o.Name) }

// seek looks a block up by its id, before ctx ends.
func (e *env) seek(ctx context.Context, q *session.Seek) session.BlockFound {
	found := session.BlockFound{}
	err := e.database.ask(ctx, func(b *Backend) (err error) {
		if found.Of, err = b.Ledger.BlockOwner(ctx, q.Harness, q.Block); isNotFound(err) {
			return nil
		}
		if err == nil {
			found.Blocks, err = b.Ledger.Injections(ctx, found.Of.ID)
		}
		if err == nil && len(q.Listed) > 0 && found.Of.Cwd == q.Cwd {
			found.Alias, err = b.Ledger.IsAlias(ctx, q.ID, found.Of, q.Listed)
		}
		return err
	})
	if err != nil {
		return session.BlockFound{Late: true}
	}
	return found
}

// isNotFound reports whether the ledger does not have what it was asked for.
func isNotFound(err error) bool { return errors.Is(err, correlation.ErrNotFound) }
