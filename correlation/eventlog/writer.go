package eventlog

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
)

const (
	maxWrite  = 64 << 10  // bytes of text that are written at a time
	maxQueued = 512 << 10 // bytes of text that wait for the disk; what is more is dropped and counted
	maxEvents = 8192      // events that wait
	tryAgain  = 250 * time.Millisecond
	hangs     = time.Second // a write that takes longer: no busy machine is so slow
)

// A writer appends to the file of this process, in a goroutine of its own. What the disk does not take waits, and is
// tried again.
type writer struct {
	o Options

	mu      sync.Mutex // guards what follows
	events  []queued   // in the order in which they go to the file
	waiting int        // bytes of text in them
	busy    bool       // the goroutine has something in hand, or is about to
	writing time.Time  // when the write under way began; zero: there is none
	last    time.Time  // when the last event was; the clock may jump, a file does not go back
	ended   bool       // nothing more is taken
	quiet   chan struct{}
	lost    loss
	lock    *correlation.Lock // shows that the process lives; it stands beside the file
	full    bool              // the disk takes nothing
	told    bool              // and a person knows
	slow    bool              // a person knows that the disk hangs
	fresh   bool              // what follows goes to a new file

	wake    chan struct{} // 1-buffered
	stop    chan struct{}
	stopped chan struct{}
	grown   chan struct{} // 1-buffered: there is something to fold in

	// The goroutine's, but for size and number, which mu guards.
	out    *os.File
	opened map[int]queued // sessions that are open, by number: a file that replaces a lost one begins with them
	buf    []byte         // reused
	torn   bool           // a write broke off: a line end comes first
	start  int64          // of what is behind the header
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

// newWriter begins the file of a process whose lock is taken.
func newWriter(o Options, lock *correlation.Lock) (*writer, error) {
	w := &writer{o: o, lock: lock, opened: map[int]queued{}, wake: make(chan struct{}, 1), stop: make(chan struct{}),
		stopped: make(chan struct{}), grown: make(chan struct{}, 1), quiet: make(chan struct{})}
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

// enqueueLocked queues an event, a long text in pieces. It reports whether there was room.
func (w *writer) enqueueLocked(at time.Time, e Event, written chan error) bool {
	size := textSize(e)
	if len(w.events) >= maxEvents || size > 0 && w.waiting+size > maxQueued {
		return false
	}
	w.waiting += size
	for _, piece := range pieces(e) {
		w.events = append(w.events, queued{at: at, event: piece, bytes: textSize(piece)})
	}
	w.events[len(w.events)-1].written = written
	return true
}

// overtake puts an event that somebody has waited for in vain in front of the text that it waits behind. What is no
// text keeps its order: an end in front of its turn's beginning would end nothing.
func (w *writer) overtake(written chan error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := slices.IndexFunc(w.events, func(q queued) bool { return q.written == written })
	to := at
	for to > 0 && w.events[to-1].bytes > 0 {
		to--
	}
	if to < at {
		q := w.events[at]
		w.events = slices.Insert(slices.Delete(w.events, at, at+1), to, q)
	}
	if !w.writing.IsZero() && time.Since(w.writing) > hangs && !w.slow {
		w.slow = true
		w.o.Tell("the disk hangs: the conversation goes on, and the last words may be lost if this program is killed")
	}
}

// take returns what is to be written next, or nothing, and the writer rests.
func (w *writer) take() (batch []queued, fresh bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, size := 0, 0
	for n < len(w.events) && size < maxWrite {
		size += w.events[n].bytes
		n++
	}
	batch = w.events[:n:n]
	w.waiting -= size
	if w.events = w.events[n:]; len(w.events) == 0 {
		w.events = nil // lets go of the array
	}
	w.writing = time.Now()
	if len(batch) == 0 {
		w.restLocked()
	}
	fresh, w.fresh = w.fresh && !w.ended, false
	return batch, fresh
}

func (w *writer) restLocked() {
	w.writing = time.Time{}
	if w.busy {
		w.busy = false
		close(w.quiet)
	}
}

// putBack queues again what the disk did not take, and the writer rests.
func (w *writer) putBack(batch []queued) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, q := range batch {
		q.tell(ErrNotWritten)
		batch[i].written = nil
		w.waiting += q.bytes
	}
	w.events = append(batch, w.events...)
	w.restLocked()
}

// run is the writer's goroutine.
func (w *writer) run() {
	defer close(w.stopped)
	var again <-chan time.Time
	for {
		select {
		case <-w.wake:
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
	for {
		batch, fresh := w.take()
		if fresh {
			w.next()
			wake(w.grown)
		}
		if len(batch) == 0 {
			return true
		}
		rest := w.writeGuarded(batch)
		wake(w.grown)
		if len(rest) > 0 {
			w.putBack(rest)
			return false
		}
	}
}

// writeGuarded is write; what a panic has left unwritten is lost.
func (w *writer) writeGuarded(batch []queued) (rest []queued) {
	if guard.Run("writer", func() { rest = w.write(batch) }) {
		return rest
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
	return nil
}

// write encodes events and brings them to the file, in one write where that is possible. It returns those that the disk
// did not take.
func (w *writer) write(batch []queued) (rest []queued) {
	guard.Point("writer")
	w.replace()
	ends := make([]int, len(batch)) // where each event's line ends
	buf := w.buf[:0]
	for i, q := range batch {
		buf = w.encode(buf, q)
		ends[i] = len(buf)
	}
	if w.buf = buf; cap(buf) > 4*maxWrite { // of something large, once
		w.buf = nil
	}
	if err := w.append(buf); err != nil {
		w.fails(err)
		for i, from := 0, 0; i < len(batch); i++ { // a disk that is nearly full takes some of it
			if w.append(buf[from:ends[i]]) != nil {
				w.wrote(batch[:i])
				return batch[i:]
			}
			from = ends[i]
		}
	}
	w.wrote(batch)
	w.recovered()
	return nil
}

// encode appends an event's line, or nothing if it has none.
func (w *writer) encode(buf []byte, q queued) []byte {
	line, err := appendLine(buf, q.at, q.event)
	if err != nil {
		w.o.Log.Error().Err(err).Msg("an event that cannot be written")
		return buf
	}
	return line
}

// wrote notes that events are in the file.
func (w *writer) wrote(batch []queued) {
	for _, q := range batch {
		switch e := q.event.(type) {
		case Opened:
			w.opened[e.Session] = queued{at: q.at, event: e}
		case Left:
			delete(w.opened, e.Session)
		}
		q.tell(nil)
	}
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

// replace goes on in a new file if the old one was removed: somebody has removed the folder. It begins with the
// sessions that are open, because their database may have gone, too.
func (w *writer) replace() {
	if fileOf(w.o.Dir, w.o.Process.ID, w.number).there() {
		return
	}
	lock, err := correlation.TakeLock(w.o.Dir, w.o.Process.ID) // makes the folder, too
	switch {
	case err == nil:
		w.mu.Lock()
		w.lock = lock // the old one's file is gone
		w.mu.Unlock()
	case !errors.Is(err, correlation.ErrTaken):
		w.o.Log.Warn().Err(err).Msg("the lock of this process was removed")
	}
	number := w.number
	if w.next(); w.number == number {
		return
	}
	var buf []byte
	for _, session := range slices.Sorted(maps.Keys(w.opened)) {
		buf = w.encode(buf, w.opened[session])
	}
	if err := w.append(buf); err != nil {
		w.fails(err)
	}
	w.o.Log.Warn().Msg("the file of events was removed; going on in a new one")
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

// idle is closed once nothing is queued any more, or the disk does not take it.
func (w *writer) idle() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.quiet
}

// isFull reports whether the disk takes nothing.
func (w *writer) isFull() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.full
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
	w.mu.Lock() // what comes late is still counted
	lost := w.lost
	lost.events += len(w.events)
	lost.bytes += w.waiting
	w.mu.Unlock()
	if lost.events > 0 {
		w.o.Tell(fmt.Sprintf("of this conversation %d events (%d bytes of text) could not be written down", lost.events,
			lost.bytes))
	}
	return w.out.Close()
}

// release lets others see that the process has ended.
func (w *writer) release() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lock.Release()
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// empty reports whether the file holds nothing: it can be told once the goroutine has gone.
func (w *writer) empty() bool { return w.number == 1 && w.size == w.start }
