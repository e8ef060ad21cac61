package proxy

import (
	"context"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// Reinject says what goes in again after the harness forgot the conversation.
type Reinject string

const (
	ReinjectNever    Reinject = "never"
	ReinjectIdentity Reinject = "identity" // identity after a compaction, everything after a clear
	ReinjectAll      Reinject = "all"      // everything after either
)

// The commands that make a harness forget, as harnesses name them.
var (
	clearCommands   = []string{"clear", "new", "reset"}
	compactCommands = []string{"compact", "compress", "summarize"}
)

// forgot re-arms a session after a command that the harness advertised and
// that made it forget. The relay's lock is held.
func (r *Relay) forgot(s *session, command string) {
	if !s.commands[command] {
		return
	}
	switch {
	case slices.Contains(clearCommands, command):
		r.rearm(s, true)
	case slices.Contains(compactCommands, command):
		r.rearm(s, r.o.Reinject == ReinjectAll)
	}
}

// A brief is a harness's own summary of a conversation that it is compacting.
type brief struct {
	compaction string // its compactionId
	text       []byte // at most maxTurnText
}

// of makes it the brief of a compaction, empty if it was another's.
func (b *brief) of(compaction string) {
	if b.compaction != compaction {
		*b = brief{compaction: compaction}
	}
}

func (b *brief) add(text string) {
	b.text = append(b.text, text[:min(len(text), maxTurnText-len(b.text))]...)
}

// briefed takes in a piece of a summary.
func (d *down) briefed(s *session, line []byte) {
	id, _ := stringAt(line, "params", "update", "compactionId")
	text, ok := stringAt(line, "params", "update", "content", "text")
	if !ok {
		return
	}
	d.r.mu.Lock()
	defer d.r.mu.Unlock()
	s.brief.of(id)
	s.brief.add(text)
}

// compaction hands over the summary of a session whose harness says that it has compacted, and re-arms it.
// Only clients that asked for it see this update.
func (d *down) compaction(s *session, line []byte) {
	if len(line) == maxTapped {
		line = frame.Mend(line)
	}
	id, _ := stringAt(line, "params", "update", "compactionId")
	status, _ := stringAt(line, "params", "update", "status")
	var texts []string
	if summary, ok := frame.Find(line, "params", "update", "summary"); ok {
		for block := range frame.Elements(line, summary) {
			if text, ok := textOf(block.Of(line)); ok {
				texts = append(texts, text)
			}
		}
	}
	d.r.mu.Lock()
	defer d.r.mu.Unlock()
	s.brief.of(id)
	if len(texts) > 0 { // it replaces what came in pieces
		s.brief.text = nil
		s.brief.add(strings.Join(texts, "\n"))
	}
	if status != "completed" {
		return
	}
	d.r.handBrief(s)
	d.r.rearm(s, d.r.o.Reinject == ReinjectAll)
}

// handBrief leaves a summary for delivery. The relay's lock is held.
func (r *Relay) handBrief(s *session) {
	b, text := r.journal.backend, string(s.brief.text)
	s.brief = brief{}
	if b == nil || b.Summarised == nil || s.off || strings.TrimSpace(text) == "" {
		return
	}
	blocks, private := slices.Clone(s.blocks), slices.Clone(s.secret)
	s.owe("summary", func(ctx context.Context, _ Ledger, row int64) error {
		return b.Summarised(ctx, row, storable(text, blocks, private, false))
	})
	r.journal.nudge()
}

// rearm makes the next plain prompt carry context again, under a new key: a
// daemon answers a second start of the old one with a stub. The relay's lock is held.
func (r *Relay) rearm(s *session, whole bool) {
	if r.o.Reinject == ReinjectNever || s.off || s.state != correlation.Done {
		return
	}
	b := r.journal.backend
	if b == nil {
		return
	}
	key := newKey()
	s.who.Key, s.state, s.seen = key, correlation.Armed, nil
	f := newFetch()
	s.context = f
	s.owe("re-arm", func(ctx context.Context, l Ledger, row int64) error {
		if err := l.Rekey(ctx, row, key); err != nil {
			return err
		}
		return l.SetState(ctx, row, []correlation.State{correlation.Done}, correlation.Armed)
	})
	who := s.who
	r.task(func(ctx context.Context) {
		defer close(f.done)
		if whole {
			r.start(ctx, b, s, f, who)
		} else {
			f.got = b.Memory.Identity(who)
		}
	})
	r.journal.nudge()
}

// settleDoubt ends the doubt whether the harness has a block, or our being
// armed in error, by what its replay has shown; without a replay by what is
// known of such harnesses. What stays in doubt gets the same text again: twice is
// a nuisance, never is a failure. The relay's lock is held.
func (r *Relay) settleDoubt(s *session) {
	from, to := s.state, s.state
	switch {
	case from == correlation.Armed && s.replay.marked:
		to = correlation.Done
	case from != correlation.Doubt:
	case s.replay.marked:
		to = correlation.Done
	case s.replay.loaded:
		to = correlation.Armed
	case r.o.KeepsFailed != nil && r.o.KeepsFailed(r.agent.name):
		to = correlation.Done
	}
	if to == from {
		return
	}
	s.state = to
	s.owe("settle doubt", func(ctx context.Context, l Ledger, row int64) error {
		return l.SetState(ctx, row, []correlation.State{from}, to)
	})
	if to == correlation.Armed && (s.context == nil || s.context.finished() && s.context.got.Empty()) {
		r.again(s)
	}
}

// again gives a session that lost its context the one that it had: the text
// stands in the ledger. The relay's lock is held.
func (r *Relay) again(s *session) {
	b := r.journal.backend
	if b == nil {
		return
	}
	key := newKey()
	s.who.Key = key
	s.owe("rekey", func(ctx context.Context, l Ledger, row int64) error { return l.Rekey(ctx, row, key) })
	f := newFetch()
	s.context = f
	who := s.who
	r.task(func(ctx context.Context) {
		defer close(f.done)
		r.start(ctx, b, s, f, who)
	})
}

// descend makes a fork's child take over its parent's state: the harness
// copied the history. What is in flight counts as arrived.
func (r *Relay) descend(s, parent *session, parentID string) func(context.Context, Ledger) error {
	return func(ctx context.Context, l Ledger) error {
		r.mu.Lock()
		s.state = correlation.Armed
		if parent != nil {
			s.state, s.off = parent.state, parent.off
			s.blocks, s.seen = slices.Clone(parent.blocks), slices.Clone(parent.seen)
			s.open.ForkOf = parent.row
		}
		harness := r.harness()
		r.mu.Unlock()
		if parent == nil {
			known, err := l.Find(ctx, harness, parentID)
			if err == nil {
				err = r.adopt(ctx, l, s, known)
				r.mu.Lock()
				s.row, s.who.Key, s.open.ForkOf = 0, "", known.ID
				r.mu.Unlock()
			} else if isNotFound(err) {
				err = nil
			}
			if err != nil {
				return err
			}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if s.state == correlation.InFlight {
			s.state = correlation.Done
		}
		s.open.State = s.state
		return nil
	}
}
