package proxy

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

const (
	syncEvery  = 500 * time.Millisecond // how often streaming text reaches the disk
	entryLimit = 2 * time.Second        // for one change; a locked database is tried again with the next
	closeLimit = 3 * time.Second        // for the last changes
)

// A journal brings the sessions of a relay to the ledger, in one goroutine,
// beside the conversation. What the ledger does not take is kept and tried
// again; nothing here is ever waited for by a pump.
type journal struct {
	r       *Relay
	wake    chan struct{}
	asks    chan func()
	gone    chan chan struct{} // the client has gone: everything to disk, then mark the end
	stop    chan struct{}
	stopped chan struct{}

	opened  chan struct{} // closed when backend stands, or is known not to come
	backend *Backend

	failures int
	once     sync.Once
}

func startJournal(r *Relay) *journal {
	j := &journal{r: r, wake: make(chan struct{}, 1), asks: make(chan func()), gone: make(chan chan struct{}),
		stop: make(chan struct{}), stopped: make(chan struct{}), opened: make(chan struct{})}
	go j.run()
	return j
}

// run is the journal's goroutine.
func (j *journal) run() {
	defer close(j.stopped)
	backend, err := j.r.o.Open(j.r.ctx)
	if err != nil {
		j.r.say("no memory in this conversation: %v", err)
		j.r.o.Log.Error().Err(err).Msg("opening the database")
	} else {
		j.backend = backend
	}
	close(j.opened)
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	for {
		select {
		case <-j.wake:
			j.sync()
		case <-tick.C:
			j.sync()
		case ask := <-j.asks:
			j.sync()
			ask()
		case done := <-j.gone:
			j.sync()
			j.end()
			close(done)
		case <-j.stop:
			j.sync()
			j.end()
			if j.failures > 0 {
				j.r.o.Log.Warn().Int("failures", j.failures).Msg("changes that the database did not take at once")
			}
			return
		}
	}
}

// nudge asks for a sync soon. It never blocks.
func (j *journal) nudge() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// ready waits for the backend: nil when there is none, or ctx has ended.
func (j *journal) ready(ctx context.Context) *Backend {
	select {
	case <-j.opened:
		return j.backend
	default:
	}
	select {
	case <-j.opened:
		return j.backend
	case <-ctx.Done():
		return nil
	}
}

var errNoLedger = errors.New("no database")

// ask runs f in the journal's order, behind all that was queued before it. If
// ctx ends first ask returns at once; f is then not begun, or runs with a context that has ended.
func (j *journal) ask(ctx context.Context, f func(context.Context, Ledger) error) error {
	if b := j.ready(ctx); b == nil {
		return errNoLedger
	}
	result := make(chan error, 1)
	job := func() {
		err := ctx.Err()
		if err == nil {
			err = f(ctx, j.backend.Ledger)
		}
		result <- err
	}
	select {
	case j.asks <- job:
	case <-ctx.Done():
		return ctx.Err()
	case <-j.stopped:
		return errNoLedger
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// flush brings everything to disk and marks the end of the process.
func (j *journal) flush() {
	done := make(chan struct{})
	select {
	case j.gone <- done:
		<-done
	case <-j.stopped:
	}
}

// close writes what is left and joins the goroutine.
func (j *journal) close() {
	close(j.stop)
	<-j.stopped
}

// end marks the process's end, once.
func (j *journal) end() {
	if j.backend == nil || j.backend.End == nil {
		return
	}
	j.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
		defer cancel()
		if err := j.backend.End(ctx); err != nil {
			j.r.o.Log.Error().Err(err).Msg("marking the end of the process")
		}
	})
}

// sync brings every session's changes to the ledger.
func (j *journal) sync() {
	if j.backend == nil {
		return
	}
	j.r.mu.Lock()
	var due []*session
	for _, s := range j.r.sessions {
		if s.live && !s.hidden && s.settled() && (!s.opened || len(s.owed) > 0 || len(s.turns) > 0) {
			due = append(due, s)
		}
	}
	j.r.mu.Unlock()
	ended := false
	for _, s := range due {
		did, err := j.syncSession(s)
		ended = ended || did
		if err != nil {
			j.failures++
			j.r.o.Log.Warn().Err(err).Str("session", s.id).Msg("the database did not take a change; it is kept and tried again")
		}
	}
	if ended && j.backend.Learn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), entryLimit)
		j.backend.Learn(ctx)
		cancel()
	}
}

// syncSession brings one session to the ledger: its row, the changes of it,
// its turns. ended says that a turn has ended.
func (j *journal) syncSession(s *session) (ended bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), entryLimit)
	defer cancel()
	r, l := j.r, j.backend.Ledger

	r.mu.Lock()
	row, opened, open := s.row, s.opened, s.open
	open.Key, open.ACPID, open.Process = s.who.Key, s.id, j.backend.Process
	open.Harness, open.Agent, open.AgentVersion = r.harness(), r.agent.name, r.agent.version
	r.mu.Unlock()
	if !opened {
		open.Record = r.o.Record(s.id)
		stored, err := l.Open(ctx, open)
		if err != nil {
			return false, err
		}
		row = stored.ID
		r.mu.Lock()
		s.row, s.opened = row, true
		r.mu.Unlock()
	}
	for {
		r.mu.Lock()
		var next *entry
		if len(s.owed) > 0 {
			next = &s.owed[0]
		}
		r.mu.Unlock()
		if next == nil {
			break
		}
		if err := next.make(ctx, l, row); err != nil && !errors.Is(err, correlation.ErrStateChanged) {
			return ended, err
		}
		r.mu.Lock()
		s.owed = s.owed[1:]
		r.mu.Unlock()
	}
	return j.syncTurns(ctx, s, row)
}

// syncTurns brings the turns of a session to the ledger.
func (j *journal) syncTurns(ctx context.Context, s *session, row int64) (ended bool, err error) {
	r, l := j.r, j.backend.Ledger
	r.mu.Lock()
	turns := s.turns
	r.mu.Unlock()
	for _, t := range turns {
		r.mu.Lock()
		if !t.known {
			r.mu.Unlock()
			continue
		}
		now := *t
		private := slices.Clone(s.secret)
		now.tools = slices.Clone(t.tools)
		t.changed = false
		said := ""
		if now.changed {
			said = string(t.text)
		}
		r.mu.Unlock()
		said = storable(said, private, now.ended.IsZero())

		fail := func(err error) (bool, error) {
			r.mu.Lock()
			t.changed = true
			r.mu.Unlock()
			return ended, err
		}
		if now.row == 0 {
			id, err := l.BeginTurn(ctx, correlation.Turn{Session: row, Key: now.key, Process: j.backend.Process, User: memory.Redact(now.user), Started: now.started})
			if err != nil {
				return fail(err)
			}
			now.row = id
			r.mu.Lock()
			t.row = id
			r.mu.Unlock()
		}
		if now.changed && (said != "" || len(now.tools) > 0) {
			if err := l.WriteTurn(ctx, now.row, said, now.tools); err != nil {
				return fail(err)
			}
		}
		if !now.ended.IsZero() && !now.endKnown {
			if err := l.EndTurn(ctx, now.row, now.stop, now.code, now.ended); err != nil {
				return fail(err)
			}
			ended = true
			r.mu.Lock()
			t.endKnown = true
			r.mu.Unlock()
		}
	}
	r.mu.Lock()
	kept := s.turns[:0:0]
	for _, t := range s.turns {
		if t.changed || !t.endKnown {
			kept = append(kept, t)
		}
	}
	s.turns = kept
	r.mu.Unlock()
	return ended, nil
}
