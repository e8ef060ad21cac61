package eventlog

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/guard"
)

const (
	maxWrite  = 64 << 10  // bytes of text that are written at a time
	maxQueued = 512 << 10 // bytes of text that wait for the disk; what is more is dropped and counted
	maxEvents = 8192      // events beside text that wait
	giveUpAt  = 3         // writes in a row that fail: the rest of a batch is not tried
)

// A writer appends to the file of this process, in a goroutine of its own. What is no text goes first.
type writer struct {
	o Options

	mu      sync.Mutex // guards what follows
	first   []queued   // events but text
	text    []queued   // and text, or what stays behind it
	waiting int        // bytes of text in it
	busy    bool       // the goroutine has something in hand, or is about to
	last    time.Time  // when the last event was; the clock may jump, a file does not go back
	ended   bool       // nothing more is taken
	quiet   chan struct{}
	lost    loss
	full    bool // the disk takes nothing
	told    bool // and a person knows
	fresh   bool // what follows goes to a new file

	wake    chan struct{} // 1-buffered
	stop    chan struct{}
	stopped chan struct{}
	grown   chan struct{} // 1-buffered: there is something to fold in

	// The goroutine's, but for size and number, which mu guards.
	out    *os.File
	buf    []byte   // reused
	torn   bool     // a write broke off: a line end comes first
	kept   []queued // what the disk did not take, but for text: tried again with the next
	start  int64    // of what is behind the header
	size   int64
	number int
}

// queued is an event on its way to the file.
type queued struct {
	at      time.Time
	event   Event
	bytes   int        // of text
	written chan error // nil: nobody waits; else 1-buffered
}

// loss is what could not be written.
type loss struct{ events, bytes int }

func newWriter(o Options) (*writer, error) {
	w := &writer{o: o, wake: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{}),
		grown: make(chan struct{}, 1), quiet: make(chan struct{})}
	close(w.quiet)
	if err := w.begin(1); err != nil {
		return nil, err
	}
	guard.Go("writer", w.run)
	return w, nil
}

// begin begins a file.
func (w *writer) begin(number int) error {
	out, size, err := fileOf(w.o.Dir, w.o.Process.ID,
		number).create(header{version, w.o.Now().UnixMilli(), w.o.Process})
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out, w.start, w.size, w.number, w.torn = out, size, size, number, false
	return nil
}

// queue takes an event; written, if not nil, hears once it is in the file, or is not to come there.
func (w *writer) queue(e Event, written chan error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.o.Now()
	if at.Before(w.last) {
		at = w.last
	}
	w.last = at
	if w.ended || !w.enqueueLocked(at, e, written) {
		w.lost.events++
		w.lost.bytes += textSize(e)
		if written != nil {
			written <- ErrNotWritten
		}
		return
	}
	if !w.busy {
		w.busy = true
		w.quiet = make(chan struct{})
		wake(w.wake)
	}
}

// enqueueLocked puts an event where it belongs, a long text in pieces. It reports whether there was room.
func (w *writer) enqueueLocked(at time.Time, e Event, written chan error) bool {
	if !staysBehindText(e) && !w.returnsLocked(e) {
		if len(w.first) >= maxEvents {
			return false
		}
		w.first = append(w.first, queued{at, e, 0, written})
		return true
	}
	size := textSize(e)
	if size > 0 && w.waiting+size > maxQueued {
		return false
	}
	w.waiting += size
	for _, piece := range pieces(e) {
		w.text = append(w.text, queued{at, piece, textSize(piece), nil})
	}
	w.text[len(w.text)-1].written = written
	return true
}

// returnsLocked reports whether an event may open a session again whose end still waits behind its last words, under
// whatever number: that end must not come behind the new beginning.
func (w *writer) returnsLocked(e Event) bool {
	_, opened := e.(Opened)
	return opened && slices.ContainsFunc(w.text, func(q queued) bool {
		_, left := q.event.(Left)
		return left
	})
}

// take returns what is to be written next, or nothing, and the writer rests.
func (w *writer) take() (batch []queued, fresh bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	batch, w.first = w.first, nil
	n, size := 0, 0
	for n < len(w.text) && size < maxWrite {
		size += w.text[n].bytes
		n++
	}
	batch = append(batch, w.text[:n]...)
	w.waiting -= size
	if w.text = w.text[n:]; len(w.text) == 0 {
		w.text = nil // lets go of the array
	}
	if len(batch) == 0 && w.busy {
		w.busy = false
		close(w.quiet)
	}
	fresh, w.fresh = w.fresh && !w.ended, false
	return batch, fresh
}

// run is the writer's goroutine.
func (w *writer) run() {
	defer close(w.stopped)
	for {
		select {
		case <-w.wake:
			w.drain()
		case <-w.stop:
			w.drain()
			if kept := w.kept; len(kept) > 0 { // a last time
				w.kept = nil
				w.writeGuarded(kept)
			}
			return
		}
	}
}

// drain writes what is queued.
func (w *writer) drain() {
	for {
		batch, fresh := w.take()
		if fresh {
			w.next()
			wake(w.grown)
		}
		if len(batch) == 0 {
			return
		}
		batch, w.kept = append(w.kept, batch...), nil
		w.writeGuarded(batch)
		wake(w.grown)
	}
}

// writeGuarded is writeAll; what a panic has left unwritten is lost.
func (w *writer) writeGuarded(batch []queued) {
	if guard.Run("writer", func() { w.writeAll(batch) }) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, q := range batch {
		w.lost.events++
		w.lost.bytes += q.bytes
		if q.written != nil {
			select {
			case q.written <- ErrNotWritten:
			default: // it was told
			}
		}
	}
}

// writeAll encodes events and writes them.
func (w *writer) writeAll(batch []queued) {
	guard.Point("writer")
	ends := make([]int, len(batch)) // where each event's line ends
	buf := w.buf[:0]
	for i, q := range batch {
		grown, err := appendLine(buf, q.at, q.event)
		if err != nil {
			w.o.Log.Error().Err(err).Msg("an event that cannot be written")
		} else {
			buf = grown
		}
		ends[i] = len(buf)
	}
	if w.buf = buf; cap(buf) > 4*maxWrite { // of something large, once
		w.buf = nil
	}
	w.write(batch, ends, buf)
}

// next goes on in a new file. Where that cannot be made, the old one has to do.
func (w *writer) next() {
	old := w.out
	if err := w.begin(w.number + 1); err != nil {
		w.o.Log.Warn().Err(err).Msg("beginning another file of events")
		return
	}
	_ = old.Close()
}

// write brings lines to the file, as many as it takes. What is no text and did not fit is kept for the next time.
func (w *writer) write(batch []queued, ends []int, buf []byte) {
	err := w.append(buf)
	if err == nil {
		for _, q := range batch {
			q.tell(nil)
		}
		w.recovered()
		return
	}
	w.fails(err)
	from, failures := 0, 0
	for i, q := range batch {
		if failures < giveUpAt {
			err = w.append(buf[from:ends[i]])
		}
		from = ends[i]
		if err == nil {
			failures = 0
			q.tell(nil)
			continue
		}
		failures++
		q.tell(ErrNotWritten)
		if !staysBehindText(q.event) && len(w.kept) < maxEvents {
			w.kept = append(w.kept, queued{at: q.at, event: q.event})
			continue
		}
		w.mu.Lock()
		w.lost.events++
		w.lost.bytes += q.bytes
		w.mu.Unlock()
	}
}

func (q queued) tell(err error) {
	if q.written != nil {
		q.written <- err
	}
}

// append writes whole lines, or nothing of them.
func (w *writer) append(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if w.torn {
		text = append([]byte{'\n'}, text...)
	}
	n, err := w.out.Write(text)
	if err != nil && n > 0 {
		w.torn = w.out.Truncate(w.size) != nil
		if w.torn {
			w.grow(n)
		}
		return err
	}
	if err != nil {
		return err
	}
	w.torn = false
	w.grow(n)
	return nil
}

func (w *writer) grow(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.size += int64(n)
}

// fails says once that the disk does not take what is said.
func (w *writer) fails(err error) {
	w.mu.Lock()
	first := !w.told
	w.full, w.told = true, true
	w.mu.Unlock()
	if !first {
		return
	}
	if full(err) {
		w.o.Tell("the disk is full: this conversation goes on, but is not remembered until there is space again")
	} else {
		w.o.Tell(fmt.Sprintf("what is said cannot be written down: %v", err))
	}
	w.o.Log.Error().Err(err).Msg("writing the file of events")
}

func (w *writer) recovered() {
	w.mu.Lock()
	was := w.full
	w.full = false
	w.mu.Unlock()
	if was {
		w.o.Log.Info().Msg("the file of events can be written again")
	}
}

// underWay reports whether a write is under way that may still succeed.
func (w *writer) underWay() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.busy && !w.full
}

// idle is closed once nothing is queued any more.
func (w *writer) idle() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.quiet
}

// A place is how far something has come in the files of a process.
type place struct {
	number   int
	position int64
}

func (p place) before(q place) bool {
	return p.number < q.number || p.number == q.number && p.position < q.position
}

// written returns how far the files are written.
func (w *writer) written() place {
	w.mu.Lock()
	defer w.mu.Unlock()
	return place{w.number, w.size}
}

// renew goes on in a new file.
func (w *writer) renew() {
	w.mu.Lock()
	w.fresh = true
	w.mu.Unlock()
	wake(w.wake)
}

// close writes what is queued and joins the goroutine, unless a write hangs beyond limit; then the goroutine is left to
// it. What was lost is told.
func (w *writer) close(limit <-chan time.Time) error {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	close(w.stop)
	select {
	case <-w.stopped:
	case <-limit:
		return errors.New("the file of events takes nothing: a write hangs")
	}
	lost := w.lost // the goroutine has gone
	lost.events += len(w.kept)
	if lost.events > 0 {
		w.o.Tell(fmt.Sprintf("of this conversation %d events (%d bytes of text) could not be written down", lost.events,
			lost.bytes))
	}
	return w.out.Close()
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// empty reports whether the file holds nothing: it can be told once the goroutine has gone.
func (w *writer) empty() bool { return w.number == 1 && w.size == w.start }
