package proxy

import (
	"io"
	"sync"
)

const (
	maxQueued = 8 << 20 // bytes behind a held prompt; past this the reader waits
	maxFrames = 256
)

// A queue is the way out to the harness. It writes at once, except while a
// prompt is held: then everything behind it waits in order, and a goroutine
// that lives as long as something is held writes it out.
type queue struct {
	out     io.Writer
	resolve func(*heldPrompt) (line []byte, forwarded func())
	drains  sync.WaitGroup

	mu     sync.Mutex // guards what follows
	space  *sync.Cond // signalled when something left
	held   bool       // a drain owns out
	items  []item
	bytes  int
	frames int
	err    error
}

// An item is what waits: a held prompt, or bytes that go as they are.
type item struct {
	prompt *heldPrompt
	data   []byte
	frames int
}

func newQueue(out io.Writer, resolve func(*heldPrompt) ([]byte, func())) *queue {
	q := &queue{out: out, resolve: resolve}
	q.space = sync.NewCond(&q.mu)
	return q
}

// write sends bytes, or queues a copy of them behind what is held. Only the
// pump calls it, so nobody else can begin to hold meanwhile.
func (q *queue) write(b []byte) error {
	q.mu.Lock()
	q.waitForSpace(len(b))
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
	if last := len(q.items) - 1; last >= 0 && q.items[last].prompt == nil {
		q.items[last].data = append(q.items[last].data, b...)
		q.items[last].frames++
	} else {
		q.items = append(q.items, item{data: append([]byte(nil), b...), frames: 1})
	}
	q.bytes += len(b)
	q.frames++
	return q.err
}

// waitForSpace blocks while the queue is full. The lock is held.
func (q *queue) waitForSpace(n int) {
	for q.held && q.bytes > 0 && (q.bytes+n > maxQueued || q.frames >= maxFrames) {
		q.space.Wait()
	}
}

// hold queues a prompt that waits for its context.
func (q *queue) hold(h *heldPrompt) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waitForSpace(len(h.line))
	q.items = append(q.items, item{prompt: h, frames: 1})
	q.bytes += len(h.line)
	q.frames++
	if !q.held {
		q.held = true
		q.drains.Add(1)
		go q.drain()
	}
	return q.err
}

// drain writes out what is queued, in order, until nothing is.
func (q *queue) drain() {
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
		if next.prompt == nil {
			q.remove()
		}
		q.mu.Unlock()
		data, forwarded := next.data, func() {}
		if next.prompt != nil {
			data, forwarded = q.resolve(next.prompt)
			q.mu.Lock()
			q.remove()
			q.mu.Unlock()
		}
		if _, err := q.out.Write(data); err != nil {
			q.fail(err)
		}
		forwarded()
	}
}

// remove takes the first item out. The lock is held.
func (q *queue) remove() {
	first := q.items[0]
	q.items = q.items[1:]
	q.bytes -= len(first.data)
	q.frames -= first.frames
	if first.prompt != nil {
		q.bytes -= len(first.prompt.line)
	}
	q.space.Broadcast()
}

func (q *queue) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil {
		q.err = err
	}
}

// broken reports whether writing has failed.
func (q *queue) broken() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err != nil
}

// holding reports whether a prompt is held.
func (q *queue) holding() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held
}

// cancelSession ends the wait of a session's held prompts.
func (q *queue) cancelSession(session string) {
	q.cancel(func(h *heldPrompt) bool { return h.session.id == session })
}

// cancelRequest ends the wait of the held prompt with this id.
func (q *queue) cancelRequest(id string) {
	q.cancel(func(h *heldPrompt) bool { return idKey(h.id) == id })
}

func (q *queue) cancel(match func(*heldPrompt) bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, it := range q.items {
		if it.prompt != nil && match(it.prompt) {
			it.prompt.cancel()
		}
	}
}

// join waits until everything has left.
func (q *queue) join() { q.drains.Wait() }
