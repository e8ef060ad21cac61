package proxy

import (
	"context"
	"encoding/json"
	"errors"

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

// identify asks the ledger about one session and updates the table. It runs without the table's lock, once the ledger
// has all that was recorded of the session.
type identify func(context.Context, Ledger) error

// openLocked notes a request that opens a session, and starts to look the session up. The table's lock is held.
func (f *finder) openLocked(c *session.Connection, method, target, cwd string) session.Request {
	var s *session.Session
	switch method {
	case methodNew:
		var failed *session.Session
		s, failed = c.RequestNew(cwd)
		f.openNewLocked(c, s, failed)
	case methodFork:
		var parent *session.Session
		s, parent = c.RequestFork(target, cwd)
		f.openForkLocked(s, parent, target)
	default:
		s = c.RequestOpen(target, cwd)
		f.openKnownLocked(s)
	}
	return session.Request{Method: method, Session: s, Cwd: cwd}
}

// startLookupLocked asks the ledger about a session beside the conversation. before is run first and returns how to
// identify it. The ledger has to have all that was recorded of the sessions in first. The table's lock is held.
func (f *finder) startLookupLocked(
	s *session.Session, before func(context.Context) identify, first ...*session.Session,
) {
	ready := s.Ready
	f.tasks.run("look-up", func(ctx context.Context) {
		defer f.table.Update(func(c *session.Connection) {
			c.LookupEnded(s, ready)
		})
		_ = f.lookUp(ctx, s, before(ctx), first...)
	})
}

// lookUp asks the ledger about a session and updates the table. If that fails the next prompt asks again.
func (f *finder) lookUp(ctx context.Context, s *session.Session, who identify, first ...*session.Session) error {
	if f.database.ready(ctx) == nil {
		f.table.Update(func(c *session.Connection) { c.NoLedger(s) })
		return errNoLedger
	}
	err := f.database.ask(ctx, func(ctx context.Context, b *Backend) error {
		if err := who(ctx, b.Ledger); err != nil {
			return err
		}
		guard.Point("look-up")
		f.findParent(ctx, b, s)
		return f.takeStoredContext(ctx, b.Ledger, s)
	}, append(first, s)...)
	f.table.Update(func(c *session.Connection) { c.LookupAnswered(s, err) })
	if err != nil {
		f.o.Log.Warn().Err(err).Str("session", s.Label()).Msg("looking a session up")
	}
	return err
}

// lookUpAgain asks the ledger again about a session if it failed to answer before, or if another proxy was sending the
// session's context.
func (f *finder) lookUpAgain(ctx context.Context, s *session.Session) {
	again := false
	f.table.Update(func(*session.Connection) {
		if again = s.Stale || s.ClaimedElsewhere(); again {
			s.EndReplay() // the replay may be from before the prompt that is in doubt now
		}
	})
	if again {
		_ = f.lookUp(ctx, s, f.byID(s))
	}
}

// takeStoredContext gives the session a context that an earlier process has fetched and not used, if there is one.
func (f *finder) takeStoredContext(ctx context.Context, l Ledger, s *session.Session) error {
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

// findParent notes the session whose agent has started a new one: an agent that starts another through acpx runs a
// proxy inside a proxy. A session that the ledger has keeps the parent that it has there.
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

// openNewLocked starts to look up which session a new one continues: failed, whose load has just failed, or the newest
// one of the same acpx record. The table's lock is held.
func (f *finder) openNewLocked(c *session.Connection, s, failed *session.Session) {
	var lookups []chan struct{} // of sessions that it may continue
	var before []*session.Session
	for _, old := range c.Sessions() {
		if !old.Live {
			lookups, before = append(lookups, old.Ready), append(before, old)
		}
	}
	f.startLookupLocked(s, func(ctx context.Context) identify {
		record := f.o.Record("")
		for _, ready := range lookups {
			await(ctx, ready)
		}
		return func(ctx context.Context, l Ledger) error { return f.inherit(ctx, l, s, failed, record) }
	}, before...)
}

// inherit makes a new session continue the one whose place it takes: it has the same record and takes over a context
// that was not used, with its key.
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

// openKnownLocked starts to look up a session that the client opens by its id. The table's lock is held.
func (f *finder) openKnownLocked(s *session.Session) {
	id := s.ID
	f.startLookupLocked(s, func(context.Context) identify { return f.byID(s) })
	f.tasks.run("acpx's record", func(context.Context) {
		if record := f.o.Record(id); record != "" {
			f.table.Update(func(c *session.Connection) { c.FoundRecord(s, record) })
		}
	})
}

// noteNewRecords finds the records of sessions that acpx has made without a queue owner: it writes a record's file only
// once it has the session's id.
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

// byID identifies a session by its harness and id.
func (f *finder) byID(s *session.Session) identify {
	return func(ctx context.Context, l Ledger) error {
		var harness string
		wasKnown := false
		f.table.Update(func(c *session.Connection) { harness, wasKnown = c.Harness(), s.InLedger() })
		known, err := l.Find(ctx, harness, s.ID)
		if b := f.database.now(); isNotFound(err) && !wasKnown && b != nil { // another process may just have made it
			f.database.catchUp(ctx, b)
			known, err = l.Find(ctx, harness, s.ID)
		}
		if isNotFound(err) {
			f.table.Update(func(c *session.Connection) { c.Unknown(s, wasKnown) })
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

// openForkLocked starts to look up a fork's parent. parent is nil if this connection does not have it. The table's lock
// is held.
func (f *finder) openForkLocked(s, parent *session.Session, parentID string) {
	var before []*session.Session
	var ready chan struct{}
	if parent == nil {
		parent = session.NewParent(parentID)
	} else {
		before, ready = append(before, parent), parent.Ready
	}
	then := parent.ForkPoint()
	f.startLookupLocked(s, func(ctx context.Context) identify {
		if ready != nil {
			await(ctx, ready)
		}
		return func(ctx context.Context, l Ledger) error {
			if err := f.byID(parent)(ctx, l); err != nil { // another proxy may hold it too
				return err
			}
			f.table.Update(func(c *session.Connection) { c.Forked(s, parent, then) })
			return nil
		}
	}, before...)
}

// blocksOf returns the blocks of a session, from this connection or else from the ledger, oldest first, and its row
// there.
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
	got, err := askFor(ctx, f.database, func(ctx context.Context, l Ledger) (found, error) {
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

// isNotFound reports whether the ledger does not have what it was asked for.
func isNotFound(err error) bool { return errors.Is(err, correlation.ErrNotFound) }
