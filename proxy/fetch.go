package proxy

import (
	"context"
	"encoding/json"
	"errors"
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
}

func newFetch() *fetch { return &fetch{done: make(chan struct{})} }

// finished reports whether the fetch has ended.
func (f *fetch) finished() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// newKey makes a Signet key: unique, and of a form that no daemon reads a meaning into.
func newKey() string { return "acp-" + strings.ToLower(ulid.Make().String()) }

// task runs f as one of the relay's goroutines; Run joins it.
func (r *Relay) task(f func(ctx context.Context)) {
	r.tasks.Add(1)
	go func() {
		defer r.tasks.Done()
		f(r.ctx)
	}()
}

// arm finds out what a session's first prompt is to be given: what the
// ledger says of the session, then its stored context, then the source.
// identify fills in what the ledger knows and runs in the journal's order.
func (r *Relay) arm(s *session, identify func(context.Context, Ledger) error) {
	f := newFetch()
	s.context = f
	r.task(func(ctx context.Context) {
		defer close(f.done)
		b := r.journal.ready(ctx)
		if b == nil {
			f.err = errNoLedger
			close(s.ready)
			return
		}
		var stored []byte
		err := r.journal.ask(ctx, func(ctx context.Context, l Ledger) error {
			if err := identify(ctx, l); err != nil {
				return err
			}
			stored = r.takeStored(ctx, l, s)
			return nil
		})
		r.mu.Lock()
		if err != nil { // without the ledger's word the session cannot be claimed either
			s.state = correlation.Done
		}
		if s.who.Key == "" {
			s.who.Key = newKey()
		}
		who, state, off := s.who, s.state, s.off
		r.mu.Unlock()
		close(s.ready)
		r.journal.nudge()
		if err != nil {
			f.err = err
			r.o.Log.Warn().Err(err).Str("session", s.id).Msg("looking a session up")
			return
		}
		if state != correlation.Armed && state != correlation.IdentityGiven || off {
			return
		}
		if stored != nil && json.Unmarshal(stored, &f.got) == nil {
			return
		}
		r.start(ctx, b, s, f, who)
	})
}

// takeStored takes a context that an earlier process fetched and did not
// use, with its key. A session that has a key but no such context gets a
// new key: the daemon answers a second start of one key with a stub.
func (r *Relay) takeStored(ctx context.Context, l Ledger, s *session) []byte {
	r.mu.Lock()
	row, state := s.row, s.state
	from := s.open.ContinueOf
	r.mu.Unlock()
	if state != correlation.Armed && state != correlation.IdentityGiven {
		return nil
	}
	for _, id := range []int64{row, from} {
		if id == 0 {
			continue
		}
		payload, key, err := l.TakeContext(ctx, id, r.o.ContextAge)
		if err != nil {
			continue
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		s.who.Key = key
		r.keep(s, key, payload) // taken, but still unused
		return payload
	}
	key := newKey()
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.who.Key != "" && row != 0 {
		s.owe("rekey", func(ctx context.Context, l Ledger, row int64) error { return l.Rekey(ctx, row, key) })
	}
	s.who.Key = key
	return nil
}

// start asks the source, and keeps what it says for the next process in case this one sees no prompt.
func (r *Relay) start(ctx context.Context, b *Backend, s *session, f *fetch, who memory.Session) {
	ctx, cancel := context.WithTimeout(ctx, r.o.FetchLimit)
	defer cancel()
	began := time.Now()
	f.got, f.err = b.Memory.Start(ctx, who)
	f.got.Took = time.Since(began)
	if f.got.KeySpent || errors.Is(f.err, memory.ErrKeySpent) {
		who.Key = r.giveUp(s, who.Key)
	}
	log := r.o.Log.Info()
	if f.err != nil {
		log = r.o.Log.Warn().Err(f.err)
	}
	log.Str("key", who.Key).Str("source", f.got.Source).Dur("took", f.got.Took).Msg("context fetched")
	if f.err != nil || f.got.Empty() {
		return
	}
	f.got.Fetched = r.o.Now()
	payload, err := json.Marshal(f.got)
	if err != nil {
		return
	}
	r.mu.Lock()
	r.keep(s, who.Key, payload)
	r.mu.Unlock()
	r.journal.nudge()
}

// giveUp gives a session a new key in place of one whose start is in doubt, which stays in its sequence: the daemon may know it. It gives
// the key that the session has then.
func (r *Relay) giveUp(s *session, spent string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.who.Key != spent {
		return s.who.Key
	}
	key := newKey()
	s.who.Key = key
	s.owe("rekey", func(ctx context.Context, l Ledger, row int64) error {
		if err := l.Rekey(ctx, row, spent); err != nil { // a row that was made meanwhile has only the new one
			return err
		}
		return l.Rekey(ctx, row, key)
	})
	return key
}

// keep stores a context with its session until it is used. The relay's lock is held.
func (r *Relay) keep(s *session, key string, payload []byte) {
	at := r.o.Now()
	s.owe("save context", func(ctx context.Context, l Ledger, row int64) error {
		r.mu.Lock()
		waiting := s.state == correlation.Armed || s.state == correlation.IdentityGiven
		r.mu.Unlock()
		if !waiting {
			return nil
		}
		return l.SaveContext(ctx, row, key, payload, at)
	})
}

// recall asks what is relevant to a prompt, in the time that the prompt may wait.
func (r *Relay) recall(ctx context.Context, s *session, words string) memory.Context {
	b := r.journal.ready(ctx)
	if b == nil {
		return memory.Context{}
	}
	select {
	case <-s.ready:
	case <-ctx.Done():
		return memory.Context{}
	}
	r.mu.Lock()
	who := s.who
	seen := append([]string(nil), s.seen...)
	r.mu.Unlock()
	got, err := b.Memory.Recall(ctx, who, words, seen)
	if err != nil && !errors.Is(err, memory.ErrUnavailable) {
		r.o.Log.Info().Err(err).Str("key", who.Key).Msg("recalling")
	}
	return got
}

// lookUp fills in what the ledger knows of a session that the client opens by id.
func (r *Relay) lookUp(s *session) func(context.Context, Ledger) error {
	return func(ctx context.Context, l Ledger) error {
		r.mu.Lock()
		harness := r.harness()
		r.mu.Unlock()
		known, err := l.Find(ctx, harness, s.id)
		if errors.Is(err, correlation.ErrNotFound) {
			r.mu.Lock()
			s.state = correlation.Armed
			r.mu.Unlock()
			return nil
		}
		if err != nil {
			return err
		}
		return r.adopt(ctx, l, s, known)
	}
}

// adopt makes a session of the ledger's known one.
func (r *Relay) adopt(ctx context.Context, l Ledger, s *session, known correlation.Session) error {
	blocks, seen, err := ledgerBlocks(ctx, l, known.ID)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.row, s.state, s.who.Key = known.ID, known.State, known.Key
	s.blocks = append(s.blocks, blocks...)
	s.seen = append(s.seen, seen...)
	s.off = s.off || known.State == correlation.Off
	return nil
}

// ledgerBlocks gives the exact texts that a session was given, and the items in them.
func ledgerBlocks(ctx context.Context, l Ledger, row int64) (texts, items []string, err error) {
	given, err := l.Injections(ctx, row)
	if err != nil {
		return nil, nil, err
	}
	for _, in := range given {
		texts = append(texts, in.Text)
		items = append(items, in.Items...)
	}
	return texts, items, nil
}

// inherit finds the session that a new one takes the place of: one whose
// load has just failed, or the last one of the same acpx record. The new
// session continues it: record and turns; it is armed, for the harness has
// seen nothing, and an unused context goes over with its key.
func (r *Relay) inherit(s *session, failed *failedLoad) func(context.Context, Ledger) error {
	return func(ctx context.Context, l Ledger) error {
		r.mu.Lock()
		harness := r.harness()
		s.state = correlation.Armed
		r.mu.Unlock()
		var before correlation.Session
		err := correlation.ErrNotFound
		if failed != nil {
			before, err = l.Find(ctx, harness, failed.session)
		} else if record := r.o.Record(""); record != "" {
			before, err = l.FindByRecord(ctx, record)
			if err == nil && (before.Cwd != s.who.Cwd || before.Harness != harness) {
				return nil
			}
		}
		if errors.Is(err, correlation.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		s.open.ContinueOf = before.ID
		s.off = s.off || before.State == correlation.Off
		return nil
	}
}
