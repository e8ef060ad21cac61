package wire

import (
	"bytes"
	"io"
	"sync"
)

const (
	MaxQueued = 8 << 20 // bytes, that of held frames included; past this the reader waits
	MaxFrames = 256     // and past this many frames
)

// A Held is a frame that waits in a Queue for what only its owner knows.
type Held interface {
	// Size is what it counts among the bytes that wait.
	Size() int
	// Resolve waits until the frame may leave, and gives it as it is to leave, in parts; forwarded, which is not nil,
	// is called once it has left. It is called once, without a lock, from a goroutine of the queue.
	Resolve() (parts [][]byte, forwarded func())
	// Cancel ends Resolve's wait soon. It may be called more than once, from any goroutine, and must not call the
	// queue.
	Cancel()
}

// A Queue is a way out. It writes at once, except while a frame is held: then
// everything behind it waits in order, and a goroutine that lives as long as
// something is held writes it out.
type Queue struct {
	out    io.Writer
	drains sync.WaitGroup

	mu     sync.Mutex // guards what follows
	space  *sync.Cond // signalled when something left
	held   bool       // a drain owns out
	items  []item
	bytes  int
	frames int
	err    error
}

// An item is what waits: a held frame, or bytes that go as they are.
type item struct {
	frame  Held
	data   []byte
	frames int
}

// NewQueue makes a queue in front of out.
func NewQueue(out io.Writer) *Queue {
	q := &Queue{out: out}
	q.space = sync.NewCond(&q.mu)
	return q
}

// Write sends bytes, or queues a copy of them behind what is held. Only the
// pump calls it, so nobody else can begin to hold meanwhile.
func (q *Queue) Write(b []byte) error {
	q.mu.Lock()
	q.waitForSpaceLocked(len(b))
	if !q.held {
		err := q.err
		q.mu.Unlock()
		if err != nil {
			return err
		}
		if _, err = q.out.Write(b); err != nil {
			q.fail(err)
		}
		return err
	}
	defer q.mu.Unlock()
	if last := len(q.items) - 1; last >= 0 && q.items[last].frame == nil {
		q.items[last].data = append(q.items[last].data, b...)
		q.items[last].frames++
	} else {
		q.items = append(q.items, item{data: append([]byte(nil), b...), frames: 1})
	}
	q.bytes += len(b)
	q.frames++
	return q.err
}

// waitForSpaceLocked blocks while the queue is full.
func (q *Queue) waitForSpaceLocked(n int) {
	for q.held && q.bytes > 0 && (q.bytes+n > MaxQueued || q.frames >= MaxFrames) {
		q.space.Wait()
	}
}

// Hold queues a frame that waits. Only the pump calls it.
func (q *Queue) Hold(h Held) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waitForSpaceLocked(h.Size())
	q.items = append(q.items, item{frame: h, frames: 1})
	q.bytes += h.Size()
	q.frames++
	if !q.held {
		q.held = true
		q.drains.Add(1)
		go q.drain()
	}
	return q.err
}

// drain writes out what is queued, in order, until nothing is.
func (q *Queue) drain() {
	defer q.drains.Done()
	for {
		q.mu.Lock()
		if len(q.items) == 0 {
			q.held = false
			q.space.Broadcast()
			q.mu.Unlock()
			return
		}
		next := q.items[0] // stays in place while it waits, so that a cancel finds it
		if next.frame == nil {
			q.removeLocked()
		}
		q.mu.Unlock()
		parts, forwarded := [][]byte{next.data}, func() {}
		if next.frame != nil {
			parts, forwarded = next.frame.Resolve()
			q.mu.Lock()
			q.removeLocked()
			q.mu.Unlock()
		}
		if err := q.writeParts(parts); err != nil {
			q.fail(err)
		}
		next = item{} // what it holds may be large
		forwarded()
	}
}

// writeParts writes a frame: at once, unless it is large.
func (q *Queue) writeParts(parts [][]byte) error {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if len(parts) > 1 && size <= BufferSize {
		parts = [][]byte{bytes.Join(parts, nil)}
	}
	for _, p := range parts {
		if _, err := q.out.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// removeLocked takes the first item out.
func (q *Queue) removeLocked() {
	first := q.items[0]
	q.items[0] = item{} // the array outlives it
	q.items = q.items[1:]
	q.bytes -= len(first.data)
	q.frames -= first.frames
	if first.frame != nil {
		q.bytes -= first.frame.Size()
	}
	q.space.Broadcast()
}

func (q *Queue) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil {
		q.err = err
	}
}

// Broken reports whether writing has failed.
func (q *Queue) Broken() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err != nil
}

// Holding reports whether a frame is held.
func (q *Queue) Holding() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held
}

// Cancel ends the wait of the held frames that match.
func (q *Queue) Cancel(match func(Held) bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, it := range q.items {
		if it.frame != nil && match(it.frame) {
			it.frame.Cancel()
		}
	}
}

// Join waits until everything has left.
func (q *Queue) Join() { q.drains.Wait() }
