package mcpserver

import (
	"slices"
	"sync"
)

// clients knows which sessions have clients, so that the daemon is not looked for while there are none, and a session
// without clients holds no connection to it.
type clients struct {
	watch *watch

	mu        sync.Mutex  // guards what follows
	endpoints []*endpoint // those that clients have connected to
	count     int         // connected now
}

// join counts a client of an endpoint; leave must follow.
func (c *clients) join(e *endpoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	if e.count++; e.count == 1 {
		c.endpoints = append(c.endpoints, e)
		c.watch.guess()
		e.showLocked(c.watch.now.Load())
	}
	c.watch.lookAgain()
}

// leave counts a client off.
func (c *clients) leave(e *endpoint) {
	c.mu.Lock()
	c.count--
	e.count--
	last := e.count == 0
	if last {
		c.endpoints = slices.DeleteFunc(c.endpoints, func(other *endpoint) bool { return other == e })
	}
	c.mu.Unlock()
	if last {
		e.bridge.close()
	}
}

// connected reports whether there is any client.
func (c *clients) connected() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count > 0
}

// show tells every client which tools there are now.
func (c *clients) show() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.watch.now.Load()
	for _, e := range c.endpoints {
		e.showLocked(now)
	}
}
