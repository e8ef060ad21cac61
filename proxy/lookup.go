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

// A finder asks the ledger, beside the conversation, what it has of sessions and which sessions they continue.
type finder struct {
	*env
	database *database
}

// begin runs a look-up beside the conversation.
func (f *finder) begin(l *session.Lookup) {
	f.tasks.run("look-up", func(ctx context.Context) { f.lookUp(ctx, l) })
	if l.Kind == session.OpensKnown {
		f.tasks.run("acpx's record", func(context.Context) { f.findRecord(l.Session) })
	}
}

// lookUp asks the ledger about a session.
func (f *finder) lookUp(ctx context.Context, l *session.Lookup) {
	answer := session.LookedUp{Lookup: l, Err: guard.ErrPanicked} // unless it comes to its end
	defer func() { f.talk.see(answer) }()
	if f.database.ready(ctx) == nil {
		answer.None, answer.Err = true, errNoLedger
		return
	}
	record := ""
	if l.Kind == session.OpensNew {
		record = f.o.Record("")
	}
	got := session.LookedUp{}
	first := f.talk.see(session.Unfolded{About: l.First}).Behind
	err := f.database.ask(ctx, first, func(ctx context.Context, b *Backend) (err error) {
		found := session.Found{Lookup: l, Record: record}
		if l.Kind == session.OpensNew {
			err = f.continued(ctx, b.Ledger, &found)
		} else {
			err = f.byID(ctx, b, &found)
		}
		if err != nil {
			return err
		}
		guard.Point("look-up")
		wanted := f.talk.see(found)
		got.Unknown = found.Known == nil && l.Kind != session.OpensNew
		if wanted.Orphan && b.Parent != nil { // an agent that starts another through acpx runs a proxy inside a proxy
			key := b.Parent(ctx, wanted.Who.Cwd)
			got.Parent = &key
		}
		return f.takeStored(ctx, b.Ledger, wanted.Rows, &got)
	})
	if err == nil {
		answer = got
	} else {
		f.o.Log.Warn().Err(err).Str("session", l.Session.Label()).Msg("looking a session up")
	}
	answer.Lookup, answer.Err = l, err
}

// takeStored takes a context that an earlier process has fetched and not used, if there is one.
func (f *finder) takeStored(ctx context.Context, l Ledger, rows []int64, got *session.LookedUp) error {
	for _, row := range rows {
		if row == 0 {
			continue
		}
		payload, key, err := l.TakeContext(ctx, row, f.o.ContextAge)
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
func (f *finder) continued(ctx context.Context, l Ledger, found *session.Found) error {
	record, of := found.Record, found.Lookup
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
func (f *finder) byID(ctx context.Context, b *Backend, found *session.Found) error {
	l, of := b.Ledger, found.Lookup
	known, err := l.Find(ctx, of.Harness, of.ID)
	inFlight := err == nil && known.State == correlation.InFlight
	if (isNotFound(err) || inFlight) && !of.Had { // another process may just have made it, or answered and died
		f.database.takeIn(ctx, b)
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
func (f *finder) findRecord(s *session.Session) {
	if record := f.o.Record(s.ID()); record != "" {
		f.talk.see(session.RecordFound{Session: s, Record: record})
	}
}

// findNewRecords finds the records of sessions that acpx has made without a queue owner: it writes a record's file only
// once it has the session's id.
func (f *finder) findNewRecords() {
	for _, s := range f.talk.see(session.RecordsSought{Client: acpxName}).Sessions {
		f.findRecord(s)
	}
}

// blocksOf returns the blocks of a session, from this connection or else from the ledger, oldest first, and its row
// there. here is the session, if this connection has it.
func (f *finder) blocksOf(
	ctx context.Context, id string,
) (blocks []*session.Injection, row int64, here *session.Session) {
	of := f.talk.see(session.BlocksSought{ID: id})
	if of.Known {
		return of.Blocks, of.Row, of.Session
	}
	var one correlation.Session
	var stored []correlation.Injection
	if f.database.ask(ctx, 0, func(ctx context.Context, b *Backend) (err error) {
		if one, err = b.Ledger.Find(ctx, f.harness(), id); err == nil {
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
func (f *finder) harness() string { return cmp.Or(f.hello().Name, f.o.Name) }

// seek looks a block up by its id, before ctx ends.
func (f *finder) seek(ctx context.Context, q *session.Seek) session.BlockFound {
	found := session.BlockFound{Seek: q}
	err := f.database.ask(ctx, 0, func(ctx context.Context, b *Backend) (err error) {
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
		return session.BlockFound{Seek: q, Late: true}
	}
	return found
}

// isNotFound reports whether the ledger does not have what it was asked for.
func isNotFound(err error) bool { return errors.Is(err, correlation.ErrNotFound) }
