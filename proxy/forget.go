package proxy

import (
	"context"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Reinject says what goes in again after the harness forgot the conversation.
type Reinject string

const (
	ReinjectNever    Reinject = "never"
	ReinjectIdentity Reinject = "identity" // identity after a compaction, everything after a clear
	ReinjectAll      Reinject = "all"      // everything after either
)

// A loss is how much a harness forgot.
type loss uint8

const (
	nothingLost loss = iota
	compacted
	cleared
)

// The commands that make a harness forget, as harnesses name them.
var (
	clearCommands   = []string{"clear", "new", "reset"}
	compactCommands = []string{"compact", "compress", "summarize"}
)

// obeyed re-arms a session once a turn has come to its end whose prompt was a
// command that the harness advertised and that makes it forget. The relay's lock is held.
func (r *Relay) obeyed(t *turn) {
	s, command := t.session, t.command
	if command == "" || t.stop != stopEnd || !s.advertised(command, r.o.SlashPrefix) {
		return
	}
	switch {
	case slices.Contains(clearCommands, command):
		r.forgot(s, cleared)
	case slices.Contains(compactCommands, command):
		r.forgot(s, compacted)
	}
}

// forgot makes the next plain prompt carry context again. The relay's lock is held.
func (r *Relay) forgot(s *session, what loss) {
	b := r.journal.backend
	if b == nil || s.off || r.o.Reinject == ReinjectNever {
		return
	}
	whole := what == cleared || r.o.Reinject == ReinjectAll
	switch s.state {
	case correlation.InFlight: // with the prompt under way: it is not settled yet
		s.forgot = max(s.forgot, what)
		return
	case correlation.Done:
	case correlation.IdentityGiven: // the memories are still to come: identity comes with them again
		s.seen = nil
		s.become(s.blank())
		r.journal.nudge()
		return
	case correlation.Doubt: // settled, if there is nothing left of the conversation
		if what != cleared {
			return
		}
	default:
		return
	}
	to := s.blank()
	if to != correlation.Armed && !whole {
		return // a system prompt outlives a compaction
	}
	s.become(to)
	s.seen, s.context, s.placed = nil, nil, to == correlation.IdentityGiven
	s.owe("drop context", dropContext)
	if whole {
		r.supply(s)
	} else {
		f := &fetch{done: make(chan struct{}), session: s, key: s.who.Key}
		s.context = f
		who := s.who
		r.tasks.run(func(context.Context) {
			defer close(f.done)
			f.got = b.Memory.Identity(who)
			f.got.Fetched = r.o.Now()
			r.mu.Lock()
			r.keep(f)
			r.mu.Unlock()
			r.journal.nudge()
		})
	}
	r.journal.nudge()
}

// settleDoubt ends the doubt whether the harness has the block that was sent,
// or our taking a session that we do not know for one that has none, by what
// the replay has shown. When a prompt is about to leave, late, what is known of
// such harnesses has to do. What stays in doubt gets the same text again: twice
// is a nuisance, never is a failure. The relay's lock is held.
func (r *Relay) settleDoubt(s *session, late bool) {
	if s.state == correlation.Armed && s.stranger && s.replay.marked {
		s.become(correlation.Done)
	}
	if s.state != correlation.Doubt {
		return
	}
	sent, known := s.last()
	arrived := correlation.Done
	if sent.Kind == kindIdentity {
		arrived = correlation.IdentityGiven // its memories are still to come
	}
	switch {
	case s.replay.marked:
		s.become(arrived)
	case s.replay.user && (s.replay.whole || late), late && !known:
		s.become(s.blank())
	case late && r.o.KeepsFailed != nil && r.o.KeepsFailed(r.agent.name):
		s.become(arrived)
	}
	r.supply(s)
}
