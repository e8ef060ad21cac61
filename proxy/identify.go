package proxy

import (
	"context"
	"errors"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// arm makes a session that the harness has seen nothing of yet. It may take
// the place of another one: failed, whose load has just failed, or the last one of the same acpx record.
// The relay's lock is held.
func (r *Relay) arm(s, failed *session) {
	s.state = correlation.Armed
	var looks []chan struct{} // of sessions that it may continue
	for _, old := range r.sessions {
		if !old.live {
			looks = append(looks, old.ready)
		}
	}
	r.provide(s, func(ctx context.Context) identify {
		record := r.o.Record("")
		for _, ready := range looks {
			await(ctx, ready)
		}
		return func(ctx context.Context, l Ledger) error { return r.inherit(ctx, l, s, failed, record) }
	})
}

// inherit makes a session continue the one that it takes the place of: it
// goes on with its record and turns, and gets the context that was not used, with its key.
func (r *Relay) inherit(ctx context.Context, l Ledger, s, failed *session, record string) error {
	r.mu.Lock()
	s.open.Record = record
	row := int64(0)
	if failed != nil {
		row = failed.row
		s.open.ContinueOf = row
		r.takeOver(s, failed)
		if failed.off && !failed.hidden {
			r.switchOff(s)
		}
	}
	harness, cwd := r.harness(), s.who.Cwd
	r.mu.Unlock()
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
	then := &session{row: before.ID, state: before.State}
	then.take(blocks, before)
	r.mu.Lock()
	defer r.mu.Unlock()
	s.open.ContinueOf = before.ID
	for _, old := range r.sessions { // its load failed on this connection, some time ago
		if old.row == before.ID && !old.live {
			r.takeOver(s, old)
		}
	}
	switch {
	case then.untold():
		s.heir = before.ID
	case before.State == correlation.Off:
		r.switchOff(s)
	}
	return nil
}

// takeOver gives a session the context that another one has not used, with its key. The relay's lock is held.
func (r *Relay) takeOver(s, from *session) {
	f := from.context
	if f == nil || !from.untold() || f.used || s.off {
		return
	}
	f.session, s.context, s.who.Key = s, f, f.key
	if f.finished() {
		r.keep(f)
	}
}

// reopen looks up a session that the client opens by its id. The relay's lock is held.
func (r *Relay) reopen(s *session) {
	id := s.id
	r.provide(s, func(context.Context) identify { return r.lookUp(s) })
	r.tasks.run(func(context.Context) {
		if record := r.o.Record(id); record != "" {
			r.noteRecord(s, record)
		}
	})
}

// noteRecord brings a session's acpx record to the ledger.
func (r *Relay) noteRecord(s *session, record string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.open.Record == record {
		return
	}
	s.open.Record = record
	s.owe("record", func(ctx context.Context, l Ledger, row int64) error { return l.SetRecord(ctx, row, record) })
}

// noteNewRecords finds the records of sessions that were made on this
// connection outside a queue owner: acpx writes them down once it has the session's id.
func (r *Relay) noteNewRecords() {
	r.mu.Lock()
	var fresh []*session
	for _, s := range r.sessions {
		if r.client.name == acpxName && s.live && s.open.New && s.open.Record == "" {
			fresh = append(fresh, s)
		}
	}
	r.mu.Unlock()
	for _, s := range fresh {
		if record := r.o.Record(s.id); record != "" {
			r.noteRecord(s, record)
		}
	}
}

// acpxName is what acpx calls itself.
const acpxName = "acpx"

// lookUp fills in what the ledger knows of a session by its id.
func (r *Relay) lookUp(s *session) identify {
	return func(ctx context.Context, l Ledger) error {
		r.mu.Lock()
		harness, row := r.harness(), s.row
		r.mu.Unlock()
		known, err := l.Find(ctx, harness, s.id)
		if isNotFound(err) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if row != 0 { // a person has had it forgotten
				r.forgetSession(s)
				return nil
			}
			s.stranger, s.state = true, correlation.Armed
			return nil
		}
		if err != nil {
			return err
		}
		given, err := l.Injections(ctx, known.ID)
		if err != nil {
			return err
		}
		if known.State == correlation.InFlight {
			if known.State, err = stateNow(ctx, l, known.ID); err != nil {
				return err
			}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.adopt(s, known, given)
		return nil
	}
}

// stateNow asks for the state of a session whose prompt another process sent, which may have died since.
func stateNow(ctx context.Context, l Ledger, row int64) (correlation.State, error) {
	err := l.SetState(ctx, row, []correlation.State{}, correlation.Doubt) // from no state at all: it only looks
	var have *correlation.StateError
	if errors.As(err, &have) {
		return have.Have, nil
	}
	return "", err
}

// adopt makes a session of the ledger's known one. The relay's lock is held.
func (r *Relay) adopt(s *session, known correlation.Session, blocks []correlation.Injection) {
	s.row, s.open.Harness, s.stranger = known.ID, known.Harness, false
	if s.who.Cwd == "" {
		s.who.Cwd, s.who.Project = known.Cwd, known.Project
	}
	if s.context == nil || s.who.Key == "" {
		s.who.Key = known.Key
	}
	s.off = s.off || known.State == correlation.Off
	if !s.sent {
		s.state = known.State
	}
	s.take(blocks, known)
	s.placed = s.state == correlation.IdentityGiven && s.untold()
	if known.ParentKey != "" {
		s.who.ParentKey = known.ParentKey
	}
}

// outcomeRefused is how the ledger marks a block that never reached the conversation.
const outcomeRefused = "refused"

// take makes a session know what the ledger says that it was given, newest
// first. What the sessions that it continues were given, its harness has not
// seen; a fork has seen what its parent was given before.
func (s *session) take(blocks []correlation.Injection, known correlation.Session) {
	s.given, s.seen = nil, nil
	for _, in := range slices.Backward(blocks) {
		if in.Session != known.ID && (known.ForkOf == 0 || in.At.After(known.Started)) {
			continue
		}
		s.gave(in)
		if in.Outcome != outcomeRefused {
			s.seen = append(s.seen, in.Items...)
		}
	}
}

// branch makes a fork take over its parent's state: the harness copies the
// history. What is in flight counts as arrived; a prompt behind the request is
// none of the fork's. The relay's lock is held.
func (r *Relay) branch(s, parent *session, parentID string) {
	if parent == nil {
		parent = &session{id: parentID}
	}
	ready, then, claims := parent.ready, parent.state, parent.claims
	r.provide(s, func(ctx context.Context) identify {
		if ready != nil {
			await(ctx, ready)
		}
		return func(ctx context.Context, l Ledger) error {
			if err := r.lookUp(parent)(ctx, l); err != nil { // another proxy may hold it too
				return err
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			if parent.claims == claims {
				then = parent.state
			}
			r.descend(s, parent, then)
			return nil
		}
	})
}

// descend makes s a fork of parent, in the state that it had. The relay's lock is held.
func (r *Relay) descend(s, parent *session, state correlation.State) {
	if state == correlation.InFlight {
		state = correlation.Done
	}
	s.state, s.stranger, s.off = state, parent.stranger, s.off || parent.off
	s.open.ForkOf, s.open.State = parent.row, state
	if s.who.ParentKey == "" {
		s.who.ParentKey = parent.who.Key
	}
	if s.who.Cwd == "" {
		s.who.Cwd, s.who.Project = parent.who.Cwd, parent.who.Project
	}
	s.given, s.seen = slices.Clone(parent.given), slices.Clone(parent.seen)
	for i := range s.given {
		s.given[i].shown = false
	}
	s.owe("the fork's state", func(ctx context.Context, l Ledger, row int64) error { // its parent may be in another one by then
		return l.SetState(ctx, row, []correlation.State{correlation.Armed, correlation.IdentityGiven, correlation.Doubt, correlation.Done}, state)
	})
}

// await waits for c, or for ctx to end.
func await(ctx context.Context, c <-chan struct{}) {
	select {
	case <-c:
	case <-ctx.Done():
	}
}

// forgetSession keeps nothing more of a session that a person has had forgotten. The relay's lock is held.
func (r *Relay) forgetSession(s *session) {
	s.off, s.hidden, s.owed = true, true, nil
	r.dropTurns(s)
}
