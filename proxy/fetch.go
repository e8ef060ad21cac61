package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A fetch is a session's context on its way. Nobody waits for it but a
// prompt, and no prompt ends it: an abandoned session-start costs its key.
type fetch struct {
	done chan struct{} // closed when got and err stand
	got  memory.Context
	err  error

	// The relay's lock guards these.
	session *session // whose it is; a session that continues another one takes its fetch over
	key     string   // asked for under it
	used    bool     // a prompt carries it, or has
}

// finished reports whether the fetch has ended.
func (f *fetch) finished() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// finishedFetch is a context that was there already.
func finishedFetch(s *session, key string, got memory.Context) *fetch {
	f := &fetch{done: make(chan struct{}), got: got, session: s, key: key}
	close(f.done)
	return f
}

// newKey makes a Signet key: unique, and of a form that no daemon reads a meaning into.
func newKey() string { return "acp-" + strings.ToLower(ulid.Make().String()) }

// identify fills in what the ledger knows of a session. It runs in the journal's order, without the relay's lock.
type identify func(context.Context, Ledger) error

// provide finds out, beside the conversation, what a session is and begins to
// get what its first prompt is to be given. before is run first and gives the
// way to identify it. The relay's lock is held.
func (r *Relay) provide(s *session, before func(context.Context) identify) {
	ready := s.ready
	r.tasks.run(func(ctx context.Context) {
		defer r.journal.nudge()
		defer close(ready)
		_ = r.look(ctx, s, before(ctx))
	})
}

// look asks the ledger about a session and takes in what it says. Where it
// says nothing, the next prompt asks again.
func (r *Relay) look(ctx context.Context, s *session, who identify) error {
	if r.journal.ready(ctx) == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		s.unsure, s.who.Key = false, orNewKey(s.who.Key)
		s.state = correlation.Done // it cannot be claimed either
		return errNoLedger
	}
	err := r.journal.ask(ctx, func(ctx context.Context, l Ledger) error {
		if err := who(ctx, l); err != nil {
			return err
		}
		r.adoptParent(ctx, s)
		return r.takeStored(ctx, l, s)
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	s.unsure = err != nil
	if err != nil {
		r.o.Log.Warn().Err(err).Str("session", s.label()).Msg("looking a session up")
		return err
	}
	r.settleDoubt(s, false)
	r.supply(s)
	s.who.Key = orNewKey(s.who.Key)
	for _, t := range s.turns {
		if t.key == "" {
			t.key = s.who.Key
		}
	}
	if s.off {
		r.dropTurns(s)
	}
	return nil
}

func orNewKey(key string) string {
	if key == "" {
		return newKey()
	}
	return key
}

// takeStored takes a context that an earlier process fetched and did not use, with its key.
func (r *Relay) takeStored(ctx context.Context, l Ledger, s *session) error {
	r.mu.Lock()
	rows := []int64{s.row, s.heir}
	wanted := s.waiting() && s.context == nil && !s.off
	r.mu.Unlock()
	if !wanted {
		return nil
	}
	for _, row := range rows {
		if row == 0 {
			continue
		}
		payload, key, err := l.TakeContext(ctx, row, r.o.ContextAge)
		if isNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		var got memory.Context
		if json.Unmarshal(payload, &got) == nil && key != "" {
			r.mu.Lock()
			defer r.mu.Unlock()
			s.context, s.who.Key = finishedFetch(s, key, got), key
			r.keep(s.context) // taken, but still unused
			return nil
		}
	}
	return nil
}

// supply begins to get what a session is waiting for, unless that has begun.
// The daemon answers a second start of one key with a stub, so that a session
// that has a key gets a new one. The relay's lock is held.
func (r *Relay) supply(s *session) {
	b := r.journal.backend
	if b == nil || s.off || s.context != nil || !s.waiting() {
		return
	}
	if s.who.Key != "" {
		r.rekey(s)
	}
	s.who.Key = orNewKey(s.who.Key)
	f := &fetch{done: make(chan struct{}), session: s, key: s.who.Key}
	s.context = f
	who := s.who
	r.tasks.run(func(ctx context.Context) {
		defer close(f.done)
		r.start(ctx, b, f, who)
	})
}

// rekey gives a session a new key. The relay's lock is held.
func (r *Relay) rekey(s *session) {
	key := newKey()
	s.who.Key = key
	s.owe("rekey", func(ctx context.Context, l Ledger, row int64) error { return l.Rekey(ctx, row, key) })
}

// start asks the source, and keeps what it says for the next process in case this one sees no prompt.
func (r *Relay) start(ctx context.Context, b *Backend, f *fetch, who memory.Session) {
	ctx, cancel := context.WithTimeout(ctx, r.o.FetchLimit)
	defer cancel()
	began := time.Now()
	f.got, f.err = b.Memory.Start(ctx, who)
	f.got.Took, f.got.Fetched = time.Since(began), r.o.Now()
	if f.got.KeySpent || errors.Is(f.err, memory.ErrKeySpent) {
		r.giveUp(f)
	}
	log := r.o.Log.Info()
	if f.err != nil {
		log = r.o.Log.Warn().Err(f.err)
	}
	log.Str("key", who.Key).Str("source", f.got.Source).Dur("took", f.got.Took).Msg("context fetched")
	if f.err != nil {
		return
	}
	r.mu.Lock()
	r.keep(f)
	r.mu.Unlock()
	r.journal.nudge()
}

// giveUp gives a session a new key in place of one whose start is in doubt,
// which stays in its sequence: the daemon may know it.
func (r *Relay) giveUp(f *fetch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, spent := f.session, f.key
	if s.who.Key != spent {
		return
	}
	key := newKey()
	s.who.Key, f.key = key, key
	s.owe("rekey", func(ctx context.Context, l Ledger, row int64) error {
		if err := l.Rekey(ctx, row, spent); err != nil { // a row that was made meanwhile has only the new one
			return err
		}
		if err := l.StartKey(ctx, spent); err != nil {
			return err
		}
		return l.Rekey(ctx, row, key)
	})
}

// keep stores a context with its session until it is used. The relay's lock is held.
func (r *Relay) keep(f *fetch) {
	if f.got.Empty() {
		return
	}
	s := f.session
	s.owe("save context", func(ctx context.Context, l Ledger, row int64) error {
		r.mu.Lock()
		unused := !f.used && f.session == s
		r.mu.Unlock()
		if !unused {
			return nil
		}
		payload, err := json.Marshal(cleanContext(f.got))
		if err != nil { // a date that has no JSON: it will not do better the next time
			return nil
		}
		return l.SaveContext(ctx, row, f.key, payload, f.got.Fetched)
	})
}

// cleanContext is a context as it may be stored, which is what a block would show of it.
func cleanContext(c memory.Context) memory.Context {
	c.Identity, c.Notes, c.Mixed = clean(c.Identity, nil, false), clean(c.Notes, nil, false), clean(c.Mixed, nil, false)
	c.Items = slices.Clone(c.Items)
	for i := range c.Items {
		c.Items[i].Text = clean(c.Items[i].Text, nil, false)
	}
	return c
}

// use notes that a prompt carries a context: no other process is to find it. The relay's lock is held.
func (r *Relay) use(f *fetch) {
	f.used = true
	f.session.owe("drop context", dropContext)
}

func dropContext(ctx context.Context, l Ledger, row int64) error {
	_, _, err := l.TakeContext(ctx, row, 0)
	if isNotFound(err) {
		return nil
	}
	return err
}

// recall asks what is relevant to a prompt, in the time that the prompt may
// wait, and leaves out what the session was given before.
func (r *Relay) recall(ctx context.Context, s *session, words string) memory.Context {
	b := r.journal.ready(ctx)
	if b == nil {
		return memory.Context{}
	}
	r.mu.Lock()
	ready := s.ready
	r.mu.Unlock()
	if await(ctx, ready); ctx.Err() != nil {
		return memory.Context{}
	}
	r.mu.Lock()
	who := s.who
	seen := slices.Clone(s.seen)
	r.mu.Unlock()
	got, err := b.Memory.Recall(ctx, who, words, seen)
	if err != nil && !errors.Is(err, memory.ErrUnavailable) {
		r.o.Log.Info().Err(err).Str("key", who.Key).Msg("recalling")
	}
	got.Items = slices.DeleteFunc(got.Items, func(it memory.Item) bool {
		return slices.Contains(seen, it.Text) || it.ID != "" && slices.Contains(seen, it.ID)
	})
	return got
}
