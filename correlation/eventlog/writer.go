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
	maxWrite  = 64 << 10 // bytes of text that are written at a time
	maxFile   = 64 << 10 // bytes of a file; a longer one goes once the database has all of it
	tryAgain  = 250 * time.Millisecond
	lastWrite = 500 * time.Millisecond // how long the end of a process waits for a disk that hangs
	lastFold  = time.Second            // and then for a commit, or for why the database takes nothing
)

// A writer writes what is queued to the file of this process, in a goroutine of its own. What the disk does not take
// waits in the queue, and is tried again.
type writer struct {
	o Options
	*queue
	f    *folder
	sync *syncer
	full atomic.Bool // the disk takes nothing

	stop    chan struct{}
	stopped chan struct{}

	// The goroutine's, and after it of whoever has joined it.
	lock   *correlation.Lock // shows that the process lives
	out    *output
	recent history
	told   bool // a person knows that the disk took nothing
}

// newWriter begins to write for a process whose lock is taken.
func newWriter(o Options, lock *correlation.Lock) *writer {
	out := newOutput(o)
	w := &writer{o: o, queue: newQueue(o), f: newFolder(o, out.header, out.file), lock: lock, out: out,
		stop: make(chan struct{}), stopped: make(chan struct{})}
	w.sync = newSyncer(o, w.bringToDisk)
	w.f.ended = w.sync.ended
	guard.Go("writer", w.run)
	guard.Go("syncer", w.sync.run)
	return w
}

// run is the writer's goroutine.
func (w *writer) run() {
	defer close(w.stopped)
	var again <-chan time.Time
	for {
		select {
		case <-w.wake:
		case <-w.f.lacks:
			guard.Run("writer", w.again)
		case <-again:
		case <-w.stop:
			w.drain()
			return
		}
		again = nil
		if !w.drain() {
			again = time.After(tryAgain)
		}
	}
}

// drain writes what is queued. It returns false if the disk does not take it all.
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

// write writes events, and tells who waits. It returns those that were not written.
func (w *writer) write(batch []queued) (rest []queued) {
	guard.Point("writer")
	if w.out.size > maxFile && w.f.has() >= w.out.last {
		if err := w.out.remove(); err != nil {
			w.o.Log.Warn().Err(err).Msg("removing a file of events")
		}
	}
	rest, err := w.out.write(batch)
	if err != nil {
		w.fails(err)
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
	wake(w.f.written)
	return rest
}

// follow goes on at the path of the live folder if another one, or none, is there now: somebody has removed or replaced
// it. What was said here last, and the database that is there does not have, is written there again.
func (w *writer) follow() {
	if w.lock.Stands() {
		if !w.out.stands() {
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

// again writes what was written last once more, in front of what the file has. By its numbers a database that has it
// leaves it.
func (w *writer) again() {
	if err := w.out.again(w.recent.events); err != nil {
		w.fails(err)
	}
	wake(w.f.again)
	wake(w.f.written)
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
func (w *writer) bringToDisk() error { return errors.Join(w.out.sync(), w.f.sync()) }

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
	if joined := w.f.stop(time.After(lastFold)); joined && !w.out.empty() {
		if err = w.f.fold(ctx); errors.Is(err, errLacks) {
			w.again()
			err = w.f.fold(ctx)
		}
		if err == nil {
			err = w.out.remove()
		}
		w.f.report(err)
	}
	if w.sync.slow.Load() {
		err = errors.Join(err, w.f.noteSlow(ctx))
	}
	if ctx.Err() != nil || isTransient(ctx, err) {
		err = nil // another process folds the rest in
	}
	unfolded = !w.out.empty()
	if events, bytes := w.left(); events > 0 {
		w.o.Tell(fmt.Sprintf("of this conversation %d events (%d bytes of text) could not be written down", events,
			bytes))
	}
	return unfolded, errors.Join(err, w.out.close(), w.lock.Release())
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
