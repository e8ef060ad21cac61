package proxy

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

const (
	syncEvery  = 500 * time.Millisecond // how often it is looked for text that streams
	speakEvery = 400 * time.Millisecond // how soon the text of one turn may be brought to disk again
	syncSoon   = 20 * time.Millisecond  // how soon words and endings do: several leave in one transaction
	learnAfter = 300 * time.Millisecond // how long after the last turn's end turns are learned from
	learnLimit = time.Second            // at a time; what is left is learned later, by whoever runs then
	lastLearn  = 50 * time.Millisecond  // at the end, when people wait for us to go
	entryLimit = 2 * time.Second        // for one change; a locked database is tried again with the next
	closeLimit = 3 * time.Second        // for the last changes
	openGrace  = 500 * time.Millisecond // for opening the database, once the conversation has ended
)

// A journal brings the sessions of a relay to the ledger, in one goroutine,
// beside the conversation. What the ledger does not take is kept and tried
// again; nothing here is ever waited for by a pump.
type journal struct {
	r       *Relay
	wake    chan struct{}
	asks    chan func()
	flushes chan flush
	stop    chan struct{}
	stopped chan struct{}

	opened  chan struct{} // closed when backend stands, or is known not to come
	backend *Backend

	nudged   atomic.Bool // a sync is on its way
	failures int
	once     sync.Once
	handed   sync.Once
	learning sync.WaitGroup
}

func startJournal(r *Relay) *journal {
	j := &journal{r: r, wake: make(chan struct{}, 1), asks: make(chan func()), flushes: make(chan flush),
		stop: make(chan struct{}), stopped: make(chan struct{}), opened: make(chan struct{})}
	go j.run()
	return j
}

// run is the journal's goroutine.
func (j *journal) run() {
	defer close(j.stopped)
	backend, err := j.open()
	switch {
	case errors.Is(err, context.Canceled): // the conversation was over before the database was open
	case err != nil:
		j.r.tell("no memory in this conversation: %v", err)
		j.r.o.Log.Error().Err(err).Msg("opening the database")
	default:
		j.backend = backend
	}
	close(j.opened)
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	var soon <-chan time.Time
	var took time.Duration
	learn := time.After(learnAfter) // what earlier processes left
	learned := make(chan struct{}, 1)
	learned <- struct{}{}
	for {
		select {
		case <-j.wake:
			if soon == nil { // when there is much to write the conversation gets the machine for most of the time
				soon = time.After(max(syncSoon, 9*took))
			}
		case <-soon:
			soon = nil
			j.nudged.Store(false)
			began := time.Now()
			if j.sync(false) {
				learn = time.After(learnAfter)
			}
			took = time.Since(began)
		case <-learn:
			select {
			case <-learned: // beside the journal, for a prompt may ask it meanwhile
				j.learning.Go(func() {
					j.learn(j.r.ctx, learnLimit)
					learned <- struct{}{}
				})
			default:
				learn = time.After(learnAfter)
			}
		case <-tick.C:
			if j.sync(false) {
				learn = time.After(learnAfter)
			}
		case ask := <-j.asks:
			j.sync(false)
			ask()
		case f := <-j.flushes:
			j.r.noteNewRecords()
			j.sync(true)
			ended := f.end || !j.r.busy()
			if ended {
				j.end()
			}
			j.handOver(ended)
			close(f.done)
		case <-j.stop:
			j.sync(true)
			j.end()
			j.handOver(true)
			j.learning.Wait() // it ends with the relay
			j.learn(context.Background(), lastLearn)
			if j.failures > 0 {
				j.r.o.Log.Warn().Int("failures", j.failures).Msg("changes that the database did not take at once")
			}
			return
		}
	}
}

// open opens the backend. A conversation that ends meanwhile waits a moment
// for it: it may be one that wants to be left alone by the next process too.
func (j *journal) open() (*Backend, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer context.AfterFunc(j.r.ctx, func() {
		timer := time.NewTimer(openGrace)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-ctx.Done():
		}
	})()
	return j.r.o.Open(ctx)
}

// nudge asks for a sync soon. It never blocks, and wakes nobody when one is on its way.
func (j *journal) nudge() {
	if j.nudged.Swap(true) {
		return
	}
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

// inquire is ask for something that has an answer.
func inquire[T any](ctx context.Context, j *journal, f func(context.Context, Ledger) (T, error)) (T, error) {
	answer := make(chan T, 1)
	err := j.ask(ctx, func(ctx context.Context, l Ledger) error {
		got, err := f(ctx, l)
		answer <- got
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return <-answer, nil
}

// A flush asks for everything to be on disk, and perhaps for the mark that the process has ended.
type flush struct {
	end  bool // also while a turn is under way
	done chan struct{}
}

// flush brings everything to disk. Without end the process is marked as
// ended only if no turn is under way: one that is may still come to its end.
func (j *journal) flush(end bool) {
	f := flush{end, make(chan struct{})}
	select {
	case j.flushes <- f:
		<-f.done
	case <-j.stopped:
	}
}

// busy reports whether a turn is under way.
func (r *Relay) busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sessions {
		if s.prompts > 0 {
			return true
		}
	}
	return false
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

// handOver finds somebody for what is owed, once.
func (j *journal) handOver(ended bool) {
	if j.backend == nil || j.backend.HandOver == nil {
		return
	}
	j.handed.Do(func() { j.backend.HandOver(ended) })
}

// learn lets memory take in the turns that have ended, for no longer than limit.
func (j *journal) learn(ctx context.Context, limit time.Duration) {
	if j.backend == nil || j.backend.Learn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	j.backend.Learn(ctx)
}

// sync brings every session's changes to the ledger, text that still streams
// only now and then unless it is to be all. ended says that a turn has ended.
func (j *journal) sync(all bool) (ended bool) {
	if j.backend == nil {
		return false
	}
	j.r.mu.Lock()
	var due []*session
	for _, s := range j.r.sessions {
		if (s.live || s.row != 0) && !s.hidden && s.settled() && (!s.opened || len(s.owed) > 0 || len(s.turns) > 0) {
			due = append(due, s)
		}
	}
	j.r.mu.Unlock()
	for _, s := range due {
		did, err := j.syncSession(s, all)
		ended = ended || did
		if err != nil {
			j.failures++
			j.r.o.Log.Warn().Err(err).Str("session", s.id).Msg("the database did not take a change; it is kept and tried again")
		}
	}
	return ended
}

// syncSession brings one session to the ledger: its row, the changes of it,
// its turns. ended says that a turn has ended.
func (j *journal) syncSession(s *session, all bool) (ended bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), entryLimit)
	defer cancel()
	r, l := j.r, j.backend.Ledger

	r.mu.Lock()
	row, opened, open := s.row, s.opened, s.open
	open.Key, open.ACPID, open.Process = s.who.Key, s.id, j.backend.Process
	r.mu.Unlock()
	if !opened {
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
		if err := next.make(ctx, l, row); err != nil && !errors.Is(err, correlation.ErrStateChanged) && !isNotFound(err) {
			return ended, err
		}
		r.mu.Lock()
		s.owed = s.owed[min(1, len(s.owed)):]
		r.mu.Unlock()
	}
	ended, err = j.syncTurns(ctx, s, row, all)
	if isNotFound(err) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.forgetSession(s)
		return ended, nil
	}
	return ended, err
}

// syncTurns brings the turns of a session to the ledger, some at a time, and
// not for ever: more may come while it writes.
func (j *journal) syncTurns(ctx context.Context, s *session, row int64, all bool) (ended bool, err error) {
	for n := 0; all || n < maxBatches; n++ {
		turns, stored, private := j.dueTurns(s, row, all)
		if len(turns) == 0 {
			break
		}
		did, err := j.saveTurns(ctx, s, turns, stored, private)
		ended = ended || did
		if err != nil {
			return ended, err
		}
	}
	return ended, nil
}

// dueTurns gives turns of a session as the ledger is to have them now, and
// what no turn may repeat. Text that streams is due only now and then, unless all is.
func (j *journal) dueTurns(s *session, row int64, all bool) (turns []*turn, stored []correlation.Turn, private []string) {
	r, size := j.r, 0
	r.mu.Lock()
	defer r.mu.Unlock()
	s.turns = slices.DeleteFunc(s.turns, (*turn).hollow)
	for _, t := range s.turns {
		if !t.known || !t.changed {
			continue
		}
		now, said, cut := r.o.Now(), "", false
		switch {
		case all || !t.ended.IsZero() || t.row != 0 && now.Sub(t.spoken) >= speakEvery:
			said, cut = t.said()
			t.changed = false
		case t.row != 0 || t.begun:
			continue
		}
		t.spoken, t.begun = now, true
		turns = append(turns, t)
		stored = append(stored, correlation.Turn{
			ID: t.row, Session: row, Key: t.key, Process: j.backend.Process, User: t.words, Assistant: said,
			Tools: slices.Clone(t.tools), Started: t.started, Ended: t.ended, Stop: t.stop, Code: t.code, Truncated: cut || t.lost > 0,
		})
		if size += len(t.words) + len(t.line) + len(said); size > maxBatch {
			break
		}
	}
	return turns, stored, slices.Clone(s.secret)
}

// saveTurns writes turns. ended says that one of them has ended.
func (j *journal) saveTurns(ctx context.Context, s *session, turns []*turn, stored []correlation.Turn, private []string) (ended bool, err error) {
	r := j.r
	r.mu.Lock()
	blocks := s.blocks()
	r.mu.Unlock()
	for i := range stored { // the costly part: nobody waits for the lock meanwhile
		t := &stored[i]
		if t.ID == 0 {
			var own []string
			t.User, own = read(turns[i].line, t.User, t.Truncated)
			private = append(private, own...)
			r.mu.Lock()
			s.secret = append(s.secret, own...)
			r.mu.Unlock()
		}
		if t.Truncated {
			t.Assistant = withoutCutPrivate(t.Assistant)
		}
		t.Assistant = storable(t.Assistant, blocks, private, t.Ended.IsZero())
		for i, call := range t.Tools { // titles are commands and file names, and may repeat anything
			t.Tools[i].Title = atMost(clean(call.Title, private, false), maxTitle)
		}
	}
	err = j.backend.Ledger.SaveTurns(ctx, stored)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, t := range turns {
		if err != nil {
			t.changed, t.begun = true, t.row != 0
			continue
		}
		t.row = stored[i].ID
		t.line, t.words = nil, "" // written once
		ended = ended || !stored[i].Ended.IsZero()
	}
	s.turns = slices.DeleteFunc(s.turns, func(t *turn) bool {
		saved := !t.changed && t.row != 0 && !t.ended.IsZero()
		if saved {
			r.unsaved -= t.counted
			t.counted, t.listed = 0, false
		}
		return saved
	})
	return ended, err
}
