package eventlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
)

const (
	maxWrite = 64 << 10 // bytes of text that are written at a time
	tryAgain = 250 * time.Millisecond
)

// A writer appends what is queued to the file of this process, in a goroutine of its own. What the disk does not take
// waits in the queue, and is tried again.
type writer struct {
	o Options
	*queue

	stop    chan struct{}
	stopped chan struct{}
	grown   chan struct{} // 1-buffered: there is something to fold in
	sync    *syncer
	full    atomic.Bool // the disk takes nothing
	fresh   atomic.Bool // what follows goes to a new file

	mu     sync.Mutex        // guards what follows
	lock   *correlation.Lock // shows that the process lives; it stands beside the file
	size   int64             // of the file; only the goroutine sets it, and number
	number int
	out    *os.File // only the goroutine writes to it, and sets it

	// The goroutine's.
	told     bool                   // a person knows that the disk took nothing
	folded   func(number int) int64 // how far a file is in the database
	opened   fs.FileInfo            // of out
	sessions map[int]queued         // that are open, by number: a file that replaces a lost one begins with them
	buf      []byte                 // reused
	torn     bool                   // a write broke off: a line end comes first
	header   int64                  // bytes of it
}

// newWriter begins the file of a process whose lock is taken.
func newWriter(o Options, lock *correlation.Lock) (*writer, error) {
	w := &writer{o: o, queue: newQueue(o), lock: lock, sessions: map[int]queued{}, stop: make(chan struct{}),
		stopped: make(chan struct{}), grown: make(chan struct{}, 1)}
	if err := w.begin(1); err != nil {
		return nil, err
	}
	w.sync = newSyncer(o, w.current)
	return w, nil
}

// current is the file that is written now.
func (w *writer) current() *os.File {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out
}

// start starts the goroutines. folded says how far a file is in the database.
func (w *writer) start(folded func(number int) int64) {
	w.folded = folded
	guard.Go("writer", w.run)
	guard.Go("syncer", w.sync.run)
}

// begin begins a file.
func (w *writer) begin(number int) error {
	out, size, err := fileOf(w.o.Dir, w.o.Process.ID,
		number).create(header{version, w.o.Now().UnixMilli(), w.o.Process})
	if err != nil {
		return err
	}
	if w.opened, err = out.Stat(); err != nil {
		return errors.Join(err, out.Close())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out, w.header, w.size, w.number, w.torn = out, size, size, number, false
	return nil
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
			w.fresh.Store(false)
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
		if w.fresh.Swap(false) {
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
	if !guard.Run("writer", func() { rest = w.write(batch) }) {
		w.lose(batch)
	}
	return rest
}

// write encodes events and brings them to the file, in one write where that is possible. It returns those that the disk
// did not take.
func (w *writer) write(batch []queued) (rest []queued) {
	guard.Point("writer")
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
	if w.full.Swap(false) {
		w.o.Log.Info().Msg("the file of events can be written again")
	}
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
		case correlation.Opened:
			w.sessions[e.Session] = queued{at: q.at, event: e}
		case correlation.Closed:
			delete(w.sessions, e.Session)
		case correlation.TurnEnded:
			wake(w.sync.ended)
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

// follow goes on at the path if another file, or none, is there now: somebody has removed or replaced the folder. What
// the old file has, and the database that is there does not, is written there again.
func (w *writer) follow() {
	at := fileOf(w.o.Dir, w.o.Process.ID, w.number)
	if at.is(w.opened) {
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
	happened := "was replaced: what is said goes on in the new one, with all that was said here since"
	if err = w.adopt(at); err != nil {
		happened = "was removed: what is said goes on in a new one, with what was said here last"
		err = w.another()
	}
	if err != nil {
		w.fails(err)
		return
	}
	w.o.Tell(w.o.Dir + " " + happened)
	wake(w.grown)
}

// adopt goes on in a copy of the file, and adds what the copy lacks.
func (w *writer) adopt(at file) error {
	out, h, _, err := at.open(os.O_RDWR | os.O_APPEND)
	if err != nil {
		return err
	}
	size, err := out.Seek(0, io.SeekEnd)
	switch {
	case err != nil:
	case h.Process.ID != w.o.Process.ID, size > w.size:
		err = errNoHeader
	default:
		_, err = io.Copy(out, io.NewSectionReader(w.out, size, w.size-size))
	}
	if err == nil {
		w.opened, err = out.Stat()
	}
	if err != nil {
		return errors.Join(err, out.Close())
	}
	_ = w.out.Close() // all of it is in the new one
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = out
	return nil
}

// another begins another file with the sessions that are open, because their database may have gone, too, and what is
// not in that.
func (w *writer) another() error {
	old, from, size := w.out, max(w.folded(w.number), w.header), w.size
	if err := w.begin(w.number + 1); err != nil {
		return err
	}
	defer old.Close()
	var buf []byte
	for _, session := range slices.Sorted(maps.Keys(w.sessions)) {
		buf = w.encode(buf, w.sessions[session])
	}
	rest, err := io.ReadAll(io.NewSectionReader(old, from, size-from))
	return errors.Join(err, w.append(append(buf, rest...)))
}

// append writes whole lines, or nothing of them.
func (w *writer) append(text []byte) error {
	if w.torn {
		text = append([]byte{'\n'}, text...)
	}
	n, err := w.out.Write(text)
	switch {
	case err == nil:
		w.torn = false
		w.grow(n)
	case n > 0:
		if w.torn = w.out.Truncate(w.size) != nil; w.torn {
			w.grow(n)
		}
	}
	return err
}

func (w *writer) grow(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.size += int64(n)
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
	w.o.Log.Error().Err(err).Msg("writing the file of events")
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
	w.fresh.Store(true)
	wake(w.wake)
}

// close writes what is queued and joins the goroutine, unless a write hangs beyond limit; then the goroutine is left to
// it. What was lost is told.
func (w *writer) close(limit <-chan time.Time) error {
	w.end()
	close(w.stop)
	select {
	case <-w.stopped:
	case <-limit:
		return errors.New("the file of events takes nothing: a write hangs")
	}
	w.sync.close(limit)
	if events, bytes := w.left(); events > 0 {
		w.o.Tell(fmt.Sprintf("of this conversation %d events (%d bytes of text) could not be written down",
			events, bytes))
	}
	return w.out.Close()
}

// release lets others see that the process has ended.
func (w *writer) release() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lock.Release()
}

// empty reports whether the file holds nothing: it can be told once the goroutine has gone.
func (w *writer) empty() bool { return w.number == 1 && w.size == w.header }
