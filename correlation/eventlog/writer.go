package eventlog

import (
	"fmt"
	"os"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
)

const (
	maxWrite = 64 << 10 // bytes of text that are written at a time
	maxFile  = 64 << 10 // bytes of a file; a longer one goes once the database has all of it
	tryAgain = 250 * time.Millisecond
)

// run is the writer's goroutine. It writes what is queued to the file of this process. What the disk does not take
// waits in the queue, and is tried again.
func (l *Log) run() {
	defer close(l.stopped)
	var again <-chan time.Time
	for {
		select {
		case <-l.wake:
		case <-l.f.lacks:
			guard.Run("writer", l.again)
		case <-again:
		case <-l.stop:
			l.drain()
			return
		}
		again = nil
		if !l.drain() {
			again = time.After(tryAgain)
		}
	}
}

// drain writes what is queued. It returns false if the disk does not take it all.
func (l *Log) drain() bool {
	guard.Run("writer", l.follow)
	for {
		batch := l.take(maxWrite)
		if len(batch) == 0 {
			return true
		}
		var rest []queued
		if !guard.Run("writer", func() { rest = l.write(batch) }) {
			l.lose(batch) // what a panic has left unwritten
		}
		if len(rest) > 0 {
			l.putBack(rest)
			return false
		}
	}
}

// write writes events, and tells who waits. It returns those that were not written.
func (l *Log) write(batch []queued) (rest []queued) {
	guard.Point("writer")
	if l.out.size > maxFile && l.f.reached.Load() >= l.out.last {
		if err := l.out.remove(); err != nil {
			l.o.Log.Warn().Err(err).Msg("removing a file of events")
		}
	}
	rest, err := l.out.write(batch)
	if err != nil {
		l.fails(err)
	}
	taken := batch[:len(batch)-len(rest)]
	if len(rest) == 0 && l.full.Swap(false) {
		l.o.Log.Info().Msg("conversations are saved again")
	}
	l.recent.add(taken)
	for _, q := range taken {
		if _, is := q.event.(correlation.TurnEnded); is {
			wake(l.sync.ended)
		}
		q.tell(nil)
	}
	wake(l.f.written)
	return rest
}

// follow goes on at the path of the live folder if another one, or none, is there now: somebody has removed or replaced
// it. What was said here last, and the database that is there does not have, is written there again.
func (l *Log) follow() {
	if l.lock.Stands() {
		if !l.out.stands() {
			l.again()
		}
		return
	}
	happened := "was removed: recording continues in a new one, with the last turns"
	if _, err := os.Stat(l.lock.Path()); err == nil {
		happened = "was replaced: recording continues in the new one, with all turns since"
	}
	lock, err := correlation.TakeLock(l.o.Dir, l.o.Process.ID) // makes the folder, too
	if err != nil {
		l.o.Log.Warn().Err(err).Msg("the lock of this process was removed")
		l.fails(err)
		return
	}
	l.lock = lock // the old one's file is gone
	l.again()
	l.o.Tell(l.o.Dir + " " + happened)
}

// again writes what was written last once more, in front of what the file has. By its numbers a database that has it
// leaves it.
func (l *Log) again() {
	if err := l.out.again(l.recent.events); err != nil {
		l.fails(err)
	}
	wake(l.f.again)
	wake(l.f.written)
}

// fails says once that the disk does not take what is said.
func (l *Log) fails(err error) {
	l.full.Store(true)
	if l.told {
		return
	}
	l.told = true
	if full(err) {
		l.o.Tell("the disk is full: this conversation continues, but is not saved until there is space")
	} else {
		l.o.Tell(fmt.Sprintf("this conversation cannot be saved: %v", err))
	}
	l.o.Log.Error().Err(err).Msg("writing down what is said")
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
