// Package session is what one connection knows of its sessions: their states, their turns, what went into their
// prompts, and which requests wait for their responses. All of it is behind one lock, and is changed in one function,
// Table.Update. The package waits for nothing and reads no frames: what has to happen because of a change is left for
// whoever owns the table.
package session

import (
	"sync"
	"sync/atomic"
)

// A Table is a Connection behind a lock.
type Table struct {
	// TurnChanges grows with each change that may give the agent's next words to another turn. Whoever has looked a
	// turn up may use it without the lock as long as this number is the same.
	TurnChanges atomic.Uint64

	mu    sync.Mutex // guards c
	c     *Connection
	after func(*Connection)
}

// NewTable makes the table of a connection. after, if not nil, is called at the end of each update that leaves
// something to do, with the lock held: it starts that, and waits for nothing.
func NewTable(o Options, after func(*Connection)) *Table {
	t := &Table{after: after}
	t.c = newConnection(o, &t.TurnChanges)
	return t
}

// Update reads and changes what is known. f waits for nothing, and keeps no *Connection.
func (t *Table) Update(f func(*Connection)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(t.c)
	if t.after != nil && (len(t.c.changed) > 0 || t.c.streamed) {
		t.after(t.c)
	}
}
