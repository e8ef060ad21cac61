package eventlog

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

const (
	maxQueued = 512 << 10   // bytes of text that wait for the disk; what is more is dropped and counted
	maxEvents = 8192        // events that wait
	hangs     = time.Second // a write that takes longer: no busy machine is so slow
)

// A queue is what waits to be written, in the order in which it will be.
type queue struct {
	o      Options
	wake   chan struct{} // 1-buffered: there is something to write
	number atomic.Int64  // of the last event that was taken

	mu      sync.Mutex // guards what follows
	events  []queued
	waiting int                         // bytes of text in them
	lost    struct{ events, bytes int } // what could not be written
	writing time.Time                   // when the write under way began; zero: there is none
	last    time.Time                   // when the last event was; what is recorded does not go back with the clock
	busy    chan struct{}               // closed once the writer rests; nil: it does
	ended   bool                        // nothing more is taken
	slow    bool                        // a person knows that the disk hangs
}

// queued is an event on its way.
type queued struct {
	n       int64 // its number, once it was taken
	at      time.Time
	event   correlation.Event
	bytes   int        // of text
	written chan error // nil: nobody waits; else 1-buffered
}

// add queues an event, a long text in pieces; written, if not nil, hears once it is written, or will not be.
func (q *queue) add(e correlation.Event, written chan error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if at := q.o.Now(); at.After(q.last) {
		q.last = at
	}
	size := textSize(e)
	if q.ended || len(q.events) >= maxEvents || size > 0 && q.waiting+size > maxQueued {
		if !q.ended || size > 0 { // a hook that comes when all is over costs the conversation nothing
			q.lost.events++
			q.lost.bytes += size
		}
		queued{written: written}.tell(ErrNotWritten)
		return
	}
	q.waiting += size
	for _, piece := range pieces(e) {
		q.events = append(q.events, queued{at: q.last, event: piece, bytes: textSize(piece)})
	}
	q.events[len(q.events)-1].written = written
	if q.busy == nil {
		q.busy = make(chan struct{})
		wake(q.wake)
	}
}

// overtake puts an event that somebody has waited for in vain in front of the text that it waits behind. What is no
// text keeps its order: an end in front of its turn's beginning would end nothing. So does what has a number.
func (q *queue) overtake(written chan error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.IndexFunc(q.events, func(one queued) bool { return one.written == written })
	to := at
	for to > 0 && q.events[to-1].bytes > 0 && q.events[to-1].n == 0 {
		to--
	}
	if to < at {
		one := q.events[at]
		q.events = slices.Insert(slices.Delete(q.events, at, at+1), to, one)
	}
	if !q.writing.IsZero() && time.Since(q.writing) > hangs && !q.slow {
		q.slow = true
		q.o.Tell("the disk hangs: the conversation continues, and its last words may be lost if this program is killed")
	}
}

// take returns what is to be written next, about so many bytes of text, or nothing, and the writer rests.
func (q *queue) take(bytes int) (batch []queued) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, size := 0, 0
	for n < len(q.events) && size < bytes {
		if size += q.events[n].bytes; q.events[n].n == 0 { // else it was put back
			q.events[n].n = q.number.Add(1)
		}
		n++
	}
	batch = q.events[:n:n]
	q.waiting -= size
	if q.events = q.events[n:]; len(q.events) == 0 {
		q.events = nil // lets go of the array
	}
	q.writing = time.Now()
	if len(batch) == 0 {
		q.restLocked()
	}
	return batch
}

func (q *queue) restLocked() {
	q.writing = time.Time{}
	if q.busy != nil {
		close(q.busy)
		q.busy = nil
	}
}

// putBack queues again what was not taken, and the writer rests. Nobody waits until it tries again.
func (q *queue) putBack(batch []queued) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, one := range batch {
		q.waiting += one.bytes
	}
	q.events = append(batch, q.events...)
	for i := range q.events {
		q.events[i].tell(ErrNotWritten)
		q.events[i].written = nil
	}
	q.restLocked()
}

// lose counts events that will not be written.
func (q *queue) lose(batch []queued) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, one := range batch {
		q.lost.events++
		q.lost.bytes += one.bytes
		one.tell(ErrNotWritten)
	}
}

// tell says what has become of an event to whoever waits, once.
func (q queued) tell(err error) {
	select {
	case q.written <- err:
	default: // it was told, or nobody waits
	}
}

// end takes nothing more.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
}

// left returns how much was lost, what still waits included.
func (q *queue) left() (events, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lost.events + len(q.events), q.lost.bytes + q.waiting
}

func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// maxText is how many bytes of text an event holds: what is longer becomes several.
const maxText = 16 << 10

// textSize is how many bytes of text an event holds.
func textSize(e correlation.Event) int {
	switch e := e.(type) {
	case correlation.UserSaid:
		return len(e.Text)
	case correlation.AssistantSaid:
		return len(e.Text)
	case correlation.Summarised:
		return len(e.Text)
	}
	return 0
}

// pieces cuts an event with a long text into several, so that no line is long. A summary stays in one.
func pieces(e correlation.Event) (all []correlation.Event) {
	said, is := e.(correlation.AssistantSaid)
	if !is {
		return []correlation.Event{e}
	}
	for len(said.Text) > maxText {
		n := chars.Boundary(said.Text, maxText)
		all = append(all, correlation.AssistantSaid{Turn: said.Turn, Text: said.Text[:n], Skipped: said.Skipped})
		said.Text, said.Skipped = said.Text[n:], 0
	}
	return append(all, said)
}
