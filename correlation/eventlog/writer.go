package eventlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
)

const (
	dbWait    = 40 * time.Millisecond // for the database; a response waits meanwhile
	soon      = 2 * time.Millisecond  // pause before a transaction, so that what comes at once is in one
	maxWrite  = 64 << 10              // bytes of text that are written at a time
	tryAgain  = 250 * time.Millisecond
	lastWrite = 500 * time.Millisecond // how long the end of a process waits for a disk that hangs
	lastFold  = time.Second            // and then for a commit, or for why the database takes nothing
	foldRetry = 50 * time.Millisecond  // pause after the database has refused, doubled up to foldLast
	foldLast  = 2 * time.Second
)

// A writer has what is queued written, in a goroutine of its own: into the database, or, while that takes nothing or
// has not all that came before, into the spill file. What neither takes waits in the queue, and is tried again.
type writer struct {
	o Options
	*queue
	f    *folder
	sync *syncer
	full atomic.Bool // the disk takes nothing

	stop    chan struct{}
	stopped chan struct{}

	// The goroutine's, and after it of whoever has joined it.
	lock    *correlation.Lock // shows that the process lives
	spilled *spill
	recent  history
	busy    bool             // the folder works, and nobody waits for it
	wait    time.Duration    // how long the database is left alone when it refuses next
	rest    <-chan time.Time // until then it is; nil: it is not
	reached int64            // number up to which the database had all when it last took something
	told    bool             // a person knows that the disk took nothing
}

// newWriter begins to write for a process whose lock is taken.
func newWriter(o Options, lock *correlation.Lock) *writer {
	s := newSpill(o)
	w := &writer{o: o, queue: newQueue(o), f: newFolder(o, s.header, s.file), lock: lock, spilled: s,
		stop: make(chan struct{}), stopped: make(chan struct{}), wait: foldRetry}
	w.sync = newSyncer(o, w.bringToDisk)
	guard.Go("writer", w.run)
	guard.Go("syncer", w.sync.run)
	return w
}

// run is the writer's goroutine.
func (w *writer) run() {
	defer close(w.stopped)
	attached := w.f.attached
	var again <-chan time.Time
	for {
		select {
		case <-w.wake:
			w.gather()
		case err := <-w.f.done:
			w.settled(err)
		case <-attached:
			attached = nil
		case <-w.urged:
			w.rest = nil
		case <-w.rest:
			w.rest = nil
		case <-again:
		case <-w.stop:
			w.drain()
			return
		}
		again = nil
		if !w.drain() {
			again = time.After(tryAgain)
		}
		w.foldSpilled()
	}
}

// gather lets a little more come together, unless somebody waits.
func (w *writer) gather() {
	if !w.direct() {
		return
	}
	select {
	case <-time.After(soon):
	case <-w.urged:
	case <-w.stop:
	}
}

// direct reports whether the database takes what comes next: it has all that came before.
func (w *writer) direct() bool {
	return w.f.isAttached() && !w.busy && w.rest == nil && w.spilled.empty()
}

// drain writes what is queued. It returns false if neither the database nor the disk takes it all.
func (w *writer) drain() bool {
	guard.Run("writer", w.follow)
	for {
		batch := w.take(maxWrite)
		if len(batch) == 0 {
			return true
		}
		if rest := w.writeGuarded(batch); len(rest) > 0 {
			w.putBack(rest)
			return false
		}
	}
}

// writeGuarded is write; what a panic has left unwritten is lost.
func (w *writer) writeGuarded(batch []queued) (rest []queued) {
	if !guard.Run("writer", func() { rest = w.write(batch) }) {
		w.lose(batch)
	}
	return rest
}

// write has events written, and tells who waits. It returns those that were not.
func (w *writer) write(batch []queued) (rest []queued) {
	guard.Point("writer")
	if !w.direct() || !w.hand(batch) {
		var err error
		if rest, err = w.spilled.write(batch); err != nil {
			w.fails(err)
		}
	}
	taken := batch[:len(batch)-len(rest)]
	if len(rest) == 0 && w.full.Swap(false) {
		w.o.Log.Info().Msg("what is said can be written again")
	}
	w.recent.add(taken)
	for _, q := range taken {
		if _, is := q.event.(correlation.TurnEnded); is {
			wake(w.sync.ended)
		}
		q.tell(nil)
	}
	return rest
}

// hand gives events to the database, and reports whether it has taken them in time. A commit cannot be stopped: it may
// take them still, and finds out by their numbers that they are spilled as well.
func (w *writer) hand(batch []queued) bool {
	w.f.work <- batch
	limit := time.NewTimer(dbWait)
	defer limit.Stop()
	select {
	case err := <-w.f.done:
		w.settled(err)
		return err == nil
	case <-limit.C:
		w.busy = true
		return false
	}
}

// foldSpilled has what is spilled folded in, if the database takes anything.
func (w *writer) foldSpilled() {
	if !w.f.isAttached() || w.busy || w.rest != nil || w.spilled.empty() {
		return
	}
	w.busy = true
	w.f.work <- nil
}

// settled notes what has become of what the folder was given.
func (w *writer) settled(err error) {
	w.busy = false
	if errors.Is(err, errLacks) {
		w.again()
		return
	}
	if err != nil {
		w.rest = time.After(w.wait)
		w.wait = min(2*w.wait, foldLast)
		return
	}
	if w.spilled.empty() {
		w.wait = foldRetry
		return
	}
	reached := w.f.has()
	switch {
	case reached >= w.spilled.last:
		w.wait = foldRetry
		if err := w.spilled.remove(); err != nil {
			w.o.Log.Warn().Err(err).Msg("removing a spill file")
		}
	case reached == w.reached: // its last line is damaged, until another follows
		w.rest = time.After(foldLast)
	}
	w.reached = reached
}

// follow goes on at the path of the live folder if another one, or none, is there now: somebody has removed or replaced
// it. What was said here last, and the database that is there does not have, is written there again.
func (w *writer) follow() {
	if w.lock.Stands() {
		if !w.spilled.stands() {
			w.again()
		}
		return
	}
	happened := "was removed: recording continues in a new one, with the last turns"
	if _, err := os.Stat(w.lock.Path()); err == nil {
		happened = "was replaced: recording continues in the new one, with all turns since"
	}
	lock, err := correlation.TakeLock(w.o.Dir, w.o.Process.ID) // makes the folder, too
	if err != nil {
		w.o.Log.Warn().Err(err).Msg("the lock of this process was removed")
		w.fails(err)
		return
	}
	w.lock = lock // the old one's file is gone
	w.again()
	w.o.Tell(w.o.Dir + " " + happened)
}

// again spills what was written last, in front of what is spilled. By its numbers a database that has it leaves it.
func (w *writer) again() {
	if err := w.spilled.again(w.recent.events); err != nil {
		w.fails(err)
	}
}

// fails says once that the disk does not take what is said.
func (w *writer) fails(err error) {
	w.full.Store(true)
	if w.told {
		return
	}
	w.told = true
	if full(err) {
		w.o.Tell("the disk is full: this conversation goes on, but is not remembered until there is space again")
	} else {
		w.o.Tell(fmt.Sprintf("what is said cannot be written down: %v", err))
	}
	w.o.Log.Error().Err(err).Msg("writing down what is said")
}

// bringToDisk has the system bring what was written to the disk itself.
func (w *writer) bringToDisk() error { return errors.Join(w.spilled.sync(), w.f.sync()) }

// close ends the writer, as Log.Close says.
func (w *writer) close(ctx context.Context) (unfolded bool, err error) {
	w.end()
	close(w.stop)
	limit, cancel := context.WithTimeout(context.Background(), lastWrite)
	defer cancel()
	select {
	case <-w.stopped:
	case <-limit.Done(): // the goroutine is left to it
		return true, errors.New("nothing is written down any more: a write hangs")
	}
	w.sync.close(limit.Done())
	if joined := w.f.stop(time.After(lastFold)); joined && !w.spilled.empty() {
		if w.f.has() < w.spilled.last {
			err = w.f.foldAll(ctx, nil)
		}
		if errors.Is(err, errLacks) {
			w.again()
			err = w.f.foldAll(ctx, nil)
		}
		if err == nil {
			err = w.spilled.remove()
		}
		w.f.report(err)
	}
	if w.sync.slow.Load() {
		err = errors.Join(err, w.f.noteSlow(ctx))
	}
	if ctx.Err() != nil || isTransient(ctx, err) {
		err = nil // another process folds the rest in
	}
	unfolded = !w.spilled.empty()
	if events, bytes := w.left(); events > 0 {
		w.o.Tell(fmt.Sprintf("of this conversation %d events (%d bytes of text) could not be written down", events,
			bytes))
	}
	return unfolded, errors.Join(err, w.spilled.close(), w.lock.Release())
}

// How much of what was written last is kept.
const (
	maxRecent      = 256
	maxRecentBytes = 128 << 10 // of text
)

// A history is what was written last, and how the open sessions were opened: a database in the place of ours lacks
// that.
type history struct {
	events []queued // whoever has them keeps them
	bytes  int
	most   int // of events; what is more is cut off in the front
}

func (h *history) add(events []queued) {
	for _, q := range events {
		h.bytes += q.bytes
	}
	h.events = append(h.events, events...)
	if len(h.events) <= max(h.most, 2*maxRecent) && h.bytes <= 2*maxRecentBytes {
		return
	}
	open := map[int]bool{}
	for _, q := range h.events {
		switch e := q.event.(type) {
		case correlation.Opened:
			open[e.Session] = true
		case correlation.Closed:
			delete(open, e.Session)
		}
	}
	all, rest := h.events, h.bytes
	h.events, h.bytes = nil, 0
	for i, q := range all {
		opened, is := q.event.(correlation.Opened)
		if len(all)-i <= maxRecent && rest <= maxRecentBytes || is && open[opened.Session] {
			h.events = append(h.events, q)
			h.bytes += q.bytes
		}
		rest -= q.bytes
	}
	h.most = len(h.events) + maxRecent
}
