package proxy

import (
	"context"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// open notes a request that opens a session, new or known, and begins to find
// out what that session is to be told. The relay's lock is held.
func (r *Relay) open(method, target, cwd string) request {
	failed := r.takeFailed(method, cwd)
	s := r.sessions[target]
	switch method {
	case methodNew:
		s = r.newSession(cwd)
		r.births = append(r.births, s)
		r.arm(s, failed)
	case methodFork:
		parent := s
		if cwd == "" && parent != nil {
			cwd = parent.who.Cwd
		}
		s = r.newSession(cwd)
		s.replays()
		r.births = append(r.births, s)
		r.branch(s, parent, target)
	default:
		if s == nil {
			s = r.newSession(cwd)
			s.id = target
			r.sessions[target] = s
		} else {
			s.ready, s.awaited = make(chan struct{}), false // another proxy may have changed it meanwhile
		}
		s.replays()
		r.reopen(s)
	}
	return request{method: method, session: s, cwd: cwd}
}

// takeFailed gives the session that a session/new continues: one that failed
// to load just before. Only the very next request can; a client with many
// threads on one connection may open another one at any time.
func (r *Relay) takeFailed(method, cwd string) *session {
	failed := r.failed
	r.failed = nil
	if failed == nil || method != methodNew || failed.cwd != cwd || failed.n != r.requests || r.o.Now().Sub(failed.at) > aliasWindow {
		return nil
	}
	return failed.session
}

// opened takes in a session that the harness has. The relay's lock is held.
func (r *Relay) opened(req request, line []byte) {
	s := req.session
	if req.method == methodNew || req.method == methodFork {
		r.born(s)
		id, ok := stringAt(line, "result", "sessionId")
		if !ok || id == "" {
			return
		}
		s.id, s.open.New = id, true
		r.sessions[id] = s
	} else if s.opened {
		s.opened, s.open.New = false, false // the client may have closed it in between
	}
	s.live, s.replay.whole = true, true
	r.settleDoubt(s, false)
}

// openLate takes in a session whose request came before the initialize response. The relay's lock is held.
func (r *Relay) openLate(early request, line []byte) {
	req := r.open(early.method, early.target, early.cwd)
	if early.off {
		r.switchOff(req.session)
	}
	r.opened(req, line)
}

// born takes a session off the list of those that are being made. The relay's lock is held.
func (r *Relay) born(s *session) {
	r.births = slices.DeleteFunc(r.births, func(b *session) bool { return b == s })
}

// notOpened notes that the harness refused to open a session. The relay's lock is held.
func (r *Relay) notOpened(req request) {
	s := req.session
	if req.method == methodNew || req.method == methodFork {
		r.born(s)
		return
	}
	s.replay.open = false
	if s.live { // it is still there
		return
	}
	r.failed = &failedLoad{session: s, cwd: req.cwd, at: r.o.Now(), n: req.n}
	if s.settled() && s.row == 0 { // nobody knows it
		delete(r.sessions, s.id)
	}
}

// closed ends a session that the client has closed or deleted. The relay's lock is held.
func (r *Relay) closed(req request) {
	s := req.session
	s.owe(req.method, func(ctx context.Context, _ Ledger, row int64) error {
		err := r.journal.backend.Leave(ctx, row, req.method)
		r.mu.Lock()
		defer r.mu.Unlock()
		s.live = s.live && err != nil
		return err
	})
}

// promptEnded ends a turn and settles what its prompt carried. The relay's lock is held.
func (r *Relay) promptEnded(req request, line []byte, failed bool) {
	s, t := req.session, req.turn
	s.prompts--
	t.ended = r.o.Now()
	if failed {
		t.stop, t.code = "error", errorCode(line)
	} else {
		s.live = true // whatever became of its load
		t.stop, _ = stringAt(line, "result", "stopReason")
	}
	if !s.off {
		s.touch(t)
	}
	if req.grant != nil {
		r.settle(s, req.grant, failed, t.code)
	}
	r.obeyed(t)
}

// stopEnd is the stopReason of a turn that came to its end.
const stopEnd = "end_turn"

// settle brings a session to the state that a prompt's response leaves it
// in. A refused prompt never reached the conversation; after any other error
// it may or may not have. The relay's lock is held.
func (r *Relay) settle(s *session, g *grant, failed bool, code int) {
	to := correlation.Done
	switch {
	case failed && refused(code):
		to = g.back
		r.takeBack(s, g)
	case failed && g.kind != kindRecall:
		to = correlation.Doubt
	case g.kind == kindIdentity && !(s.context != nil && s.context.finished() && s.context.err != nil):
		to = correlation.IdentityGiven
	}
	s.state, s.sent = to, false
	s.owe("settle", func(ctx context.Context, l Ledger, row int64) error {
		return l.Settle(ctx, row, r.journal.backend.Process, to)
	})
	r.supply(s)
	if happened := s.forgot; happened > nothingLost {
		s.forgot = nothingLost
		r.forgot(s, happened)
	}
}

// takeBack makes what a refused prompt carried be there for the next one. The relay's lock is held.
func (r *Relay) takeBack(s *session, g *grant) {
	if len(s.given) > 0 {
		s.given[len(s.given)-1].Outcome = outcomeRefused
	}
	for _, item := range g.items {
		if i := slices.Index(s.seen, item); i >= 0 {
			s.seen = slices.Delete(s.seen, i, i+1)
		}
	}
	if g.fetch != nil {
		g.fetch.used = false
		r.keep(g.fetch)
	}
}

// refused reports whether an error says that the harness did not take the request up.
func refused(code int) bool {
	switch code {
	case -32600, -32601, -32602, -32002:
		return true
	}
	return false
}
