package wire

import (
	"bytes"
	"io"
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/guard"
)

const (
	maxQueued       = 8 << 20 // bytes in a queue, held frames included; past this Write and Hold block
	maxQueuedFrames = 256     // frames; past this too
)

// A Queue writes bytes at once, except while a frame is held: then everything behind that frame waits in order, and is
// written by a goroutine that lives as long as something waits. Write and Hold are for one goroutine, the pump's; the
// other methods may be called from any.
type Queue struct {
	out    io.Writer
	drains sync.WaitGroup

	mu     sync.Mutex // guards what follows
	space  *sync.Cond // signalled when something was taken out
	held   bool       // drain runs, and alone writes to out
	items  []item
	bytes  int
	frames int
	err    error
}

// An item is what waits: a held frame, or bytes that are sent as they are.
type item struct {
	release func() [][]byte // of a held frame
	size    int             // that it counts for, in bytes
	data    []byte
	frames  int // how many it counts for
}

// NewQueue makes a queue in front of out.
func NewQueue(out io.Writer) *Queue {
	q := &Queue{out: out}
	q.space = sync.NewCond(&q.mu)
	return q
}

// Write sends bytes, or queues a copy of them behind what is held; it blocks while the queue is full. It returns the
// first error that writing has had.
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
	if last := len(q.items) - 1; last >= 0 && q.items[last].release == nil {
		q.items[last].data = append(q.items[last].data, b...)
		q.items[last].size += len(b)
		q.items[last].frames++
	} else {
		q.items = append(q.items, item{data: bytes.Clone(b), size: len(b), frames: 1})
	}
	q.bytes += len(b)
	q.frames++
	return q.err
}

// waitForSpaceLocked blocks while the queue is full.
func (q *Queue) waitForSpaceLocked(n int) {
	for q.held && q.bytes > 0 && (q.bytes+n > maxQueued || q.frames >= maxQueuedFrames) {
		q.space.Wait()
	}
}

// Hold queues a frame of a size that has to wait; it blocks while the queue is full. It returns the first error that
// writing has had. release waits until the frame may leave, and returns it as it is to be sent, in parts: it is called
// once, without a lock, by a goroutine of the queue.
func (q *Queue) Hold(size int, release func() [][]byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waitForSpaceLocked(size)
	q.items = append(q.items, item{release: release, size: size, frames: 1})
	q.bytes += size
	q.frames++
	if !q.held {
		q.held = true
		q.drains.Add(1)
		guard.Go("queue", q.drain)
	}
	return q.err
}

// drain writes what is queued, in order, until the queue is empty.
func (q *Queue) drain() {
	defer q.drains.Done()
	for {
		q.mu.Lock()
		if len(q.items) == 0 {
			q.held = false
			q.mu.Unlock()
			return
		}
		next := q.items[0] // it counts as long as it waits
		parts := [][]byte{next.data}
		if next.release != nil {
			q.mu.Unlock()
			parts = next.release()
			q.mu.Lock()
		}
		q.items[0] = item{} // the array outlives it
		q.items = q.items[1:]
		q.bytes -= next.size
		q.frames -= next.frames
		q.space.Broadcast()
		q.mu.Unlock()
		if len(parts) > 1 && next.size <= bufferSize { // a large frame is not copied
			parts = [][]byte{bytes.Join(parts, nil)}
		}
		for _, part := range parts {
			if _, err := q.out.Write(part); err != nil {
				q.fail(err)
				break
			}
		}
	}
}

func (q *Queue) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil {
		q.err = err
	}
}

// Broken reports whether a write has failed.
func (q *Queue) Broken() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err != nil
}

// Join waits until the queue is empty. Call it when nothing is written any more.
func (q *Queue) Join() { q.drains.Wait() }
