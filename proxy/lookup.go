package proxy

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// A finder finds out, beside the conversation, what sessions are: what the ledger knows of them, and what they go on
// from.
type finder struct {
	*env
	database *database
}

// identify fills in what the ledger knows of a session. It runs behind the session's changes, without the table's lock.
type identify func(context.Context, Ledger) error

// open begins to find out what the session is that a request opens, new or known.
func (f *finder) open(c *session.Connection, method, target, cwd string) session.Request {
	var s *session.Session
	switch method {
	case methodNew:
		var failed *session.Session
		s, failed = c.RequestNew(cwd)
		f.make(c, s, failed)
	case methodFork:
		var parent *session.Session
		s, parent = c.RequestFork(target, cwd)
		f.branch(s, parent, target)
	default:
		s = c.RequestOpen(target, cwd)
		f.reopen(s)
	}
	return session.Request{Method: method, Session: s, Cwd: cwd}
}

// provide asks the ledger about a session beside the conversation. before is run first and gives the way to identify
// it; the changes of the sessions in first have to be in the ledger by then. The table's lock is held.
func (f *finder) provide(s *session.Session, before func(context.Context) identify, first ...*session.Session) {
	ready := s.Ready
	f.tasks.run(func(ctx context.Context) {
		defer f.table.Update(func(c *session.Connection) { // what it waits for can begin
			c.LookupEnded(s, ready)
		})
		_ = f.look(ctx, s, before(ctx), first...)
	})
}

// look asks the ledger about a session and takes in what it says. Where it
// says nothing, the next prompt asks again.
func (f *finder) look(ctx context.Context, s *session.Session, who identify, first ...*session.Session) error {
	if f.database.ready(ctx) == nil {
		f.table.Update(func(c *session.Connection) { c.NoLedger(s) })
		return errNoLedger
	}
	err := f.database.ask(ctx, func(ctx context.Context, b *Backend) error {
		if err := who(ctx, b.Ledger); err != nil {
			return err
		}
		f.findParent(ctx, b, s)
		return f.takeKept(ctx, b.Ledger, s)
	}, append(first, s)...)
	f.table.Update(func(c *session.Connection) { c.LookupAnswered(s, err) })
	if err != nil {
		f.o.Log.Warn().Err(err).Str("session", s.Label()).Msg("looking a session up")
	}
	return err
}

// again asks the ledger about a session of which it did not say enough, or whose context was in another proxy's hands.
func (f *finder) again(ctx context.Context, s *session.Session) {
	again := false
	f.table.Update(func(*session.Connection) {
		if again = s.Stale || s.ClaimedElsewhere(); again {
			s.EndReplay() // it may have shown the history as it was before the prompt that is in doubt now
		}
	})
	if again {
		ctx, cancel := context.WithTimeout(ctx, f.o.ClaimLimit)
		defer cancel()
		_ = f.look(ctx, s, f.known(s))
	}
}

// takeKept takes a context that an earlier process fetched and did not use, with its key.
func (f *finder) takeKept(ctx context.Context, l Ledger, s *session.Session) error {
	var rows []int64
	f.table.Update(func(*session.Connection) {
		if s.WantsStoredContext() {
			rows = []int64{s.Row, s.Predecessor}
		}
	})
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
		var got memory.Context
		if json.Unmarshal(payload, &got) == nil && key != "" {
			f.table.Update(func(c *session.Connection) { c.UseStoredContext(s, key, got, payload) })
			return nil
		}
	}
	return nil
}

// findParent notes the session that a new one works for: where an agent starts another one through acpx, a proxy runs
// inside a proxy. A session that the ledger knows keeps the parent that it has there.
func (f *finder) findParent(ctx context.Context, b *Backend, s *session.Session) {
	if b.Parent == nil {
		return
	}
	orphan, cwd := false, ""
	f.table.Update(func(*session.Connection) {
		orphan, cwd = s.Row == 0 && s.Who.ParentKey == "" && !s.Off, s.Who.Cwd
	})
	if !orphan {
		return
	}
	key := b.Parent(ctx, cwd)
	f.table.Update(func(c *session.Connection) { c.FoundParent(s, key) })
}

// make begins to find out what a session goes on from that the harness has seen nothing of yet: failed, whose load
// has just failed, or the last one of the same acpx record. The table's lock is held.
func (f *finder) make(c *session.Connection, s, failed *session.Session) {
	var looks []chan struct{} // of sessions that it may continue
	var before []*session.Session
	for _, old := range c.Sessions() {
		if !old.Live {
			looks, before = append(looks, old.Ready), append(before, old)
		}
	}
	f.provide(s, func(ctx context.Context) identify {
		record := f.o.Record("")
		for _, ready := range looks {
			await(ctx, ready)
		}
		return func(ctx context.Context, l Ledger) error { return f.inherit(ctx, l, s, failed, record) }
	}, before...)
}

// inherit makes a session continue the one that it takes the place of: it
// goes on with its record and turns, and gets the context that was not used, with its key.
func (f *finder) inherit(ctx context.Context, l Ledger, s, failed *session.Session, record string) error {
	row := int64(0)
	var harness, cwd string
	f.table.Update(func(c *session.Connection) {
		s.Open.Record = record
		if failed != nil {
			row = failed.Row
			c.ContinueFailed(s, failed)
		}
		harness, cwd = c.Harness(), s.Who.Cwd
	})
	if record == "" {
		return nil
	}
	if row != 0 { // its own record may not have been known yet
		return l.SetRecord(ctx, row, record)
	}
	before, err := l.FindByRecord(ctx, record)
	if isNotFound(err) {
		before, err = l.Find(ctx, harness, record) // a record is named after its first session
	}
	if isNotFound(err) || err == nil && (before.Cwd != cwd || before.Harness != harness) {
		return nil
	}
	if err != nil {
		return err
	}
	blocks, err := l.Injections(ctx, before.ID)
	if err != nil {
		return err
	}
	f.table.Update(func(c *session.Connection) { c.Continue(s, before, blocks) })
	return nil
}

// reopen begins to look up a session that the client opens by its id. The table's lock is held.
func (f *finder) reopen(s *session.Session) {
	id := s.ID
	f.provide(s, func(context.Context) identify { return f.known(s) })
	f.tasks.run(func(context.Context) {
		if record := f.o.Record(id); record != "" {
			f.table.Update(func(c *session.Connection) { c.FoundRecord(s, record) })
		}
	})
}

// noteNewRecords finds the records of sessions that were made on this
// connection outside a queue owner: acpx writes them down once it has the session's id.
func (f *finder) noteNewRecords() {
	var fresh []*session.Session
	f.table.Update(func(c *session.Connection) {
		if c.Client.Name != acpxName {
			return
		}
		for _, s := range c.Sessions() {
			if s.Live && s.Open.New && s.Open.Record == "" {
				fresh = append(fresh, s)
			}
		}
	})
	for _, s := range fresh {
		if record := f.o.Record(s.ID); record != "" {
			f.table.Update(func(c *session.Connection) { c.FoundRecord(s, record) })
		}
	}
}

// known fills in what the ledger knows of a session by its id.
func (f *finder) known(s *session.Session) identify {
	return func(ctx context.Context, l Ledger) error {
		var harness string
		stood := false
		f.table.Update(func(c *session.Connection) { harness, stood = c.Harness(), s.InLedger() })
		known, err := l.Find(ctx, harness, s.ID)
		if b := f.database.now(); isNotFound(err) && !stood && b != nil { // its process may have just made it
			f.database.catchUp(ctx, b)
			known, err = l.Find(ctx, harness, s.ID)
		}
		if isNotFound(err) {
			f.table.Update(func(c *session.Connection) { c.Unknown(s, stood) })
			return nil
		}
		if err != nil {
			return err
		}
		blocks, err := l.Injections(ctx, known.ID)
		if err != nil {
			return err
		}
		if known.State == correlation.InFlight { // its process may have died since
			if known.State, err = l.State(ctx, known.ID); err != nil {
				return err
			}
		}
		f.table.Update(func(c *session.Connection) { c.Adopt(s, known, blocks) })
		return nil
	}
}

// branch begins to make a fork what its parent is. parent is nil where this connection does not have it. The table's
// lock is held.
func (f *finder) branch(s, parent *session.Session, parentID string) {
	var before []*session.Session
	var ready chan struct{}
	if parent == nil {
		parent = session.NewParent(parentID)
	} else {
		before, ready = append(before, parent), parent.Ready
	}
	then := parent.ForkPoint()
	f.provide(s, func(ctx context.Context) identify {
		if ready != nil {
			await(ctx, ready)
		}
		return func(ctx context.Context, l Ledger) error {
			if err := f.known(parent)(ctx, l); err != nil { // another proxy may hold it too
				return err
			}
			f.table.Update(func(c *session.Connection) { c.Forked(s, parent, then) })
			return nil
		}
	}, before...)
}

// blocksOf gives the blocks of a session, of this connection or the ledger's, and its row there.
func (f *finder) blocksOf(ctx context.Context, id string) (blocks []*session.Injection, row int64) {
	known, harness := false, ""
	f.table.Update(func(c *session.Connection) {
		s := c.Session(id)
		harness = c.Harness()
		if known = s != nil && s.LookedUp(); known {
			blocks, row = s.Injections(), s.Row
		}
	})
	if known {
		return blocks, row
	}
	type found struct {
		row    int64
		blocks []*session.Injection
	}
	got, err := inquire(ctx, f.database, func(ctx context.Context, l Ledger) (found, error) {
		one, err := l.Find(ctx, harness, id)
		if err != nil {
			return found{}, err
		}
		stored, err := l.Injections(ctx, one.ID)
		all := found{row: one.ID}
		for i := len(stored) - 1; i >= 0; i-- {
			all.blocks = append(all.blocks, &session.Injection{Injection: stored[i]})
		}
		return all, err
	})
	if err != nil {
		return nil, 0
	}
	return got.blocks, got.row
}

// isNotFound reports whether the ledger does not know what it was asked for.
func isNotFound(err error) bool { return errors.Is(err, correlation.ErrNotFound) }
