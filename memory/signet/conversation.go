package signet

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// conversations is what a client knows of the keys that it has used.
type conversations struct {
	mu  sync.Mutex
	all map[string]*conversation
}

// A conversation is one key's.
type conversation struct {
	starting chan struct{} // closed when the start that is under way has ended; nil: none was made
	known    bool          // the daemon has heard of the key from us
	tried    *outcome      // of a start that nobody waited for, until somebody asks
	owned    error         // it is another's, or a person has switched it off: final

	messages []memory.Item   // of other agents, to be told
	told     map[string]bool // their ids, of those that were
}

// An outcome is what a start gave.
type outcome struct {
	got memory.Context
	err error
}

// of gives a key's conversation. The lock is held.
func (c *conversations) ofLocked(key string) *conversation {
	if c.all == nil {
		c.all = make(map[string]*conversation)
	}
	if c.all[key] == nil {
		c.all[key] = &conversation{}
	}
	return c.all[key]
}

// Left is told that nobody uses a key any more: what is known of it is given up.
func (c *Client) Left(key string) {
	c.conversations.mu.Lock()
	defer c.conversations.mu.Unlock()
	delete(c.conversations.all, key)
}

// starts notes a start; ended is to be called when it has been answered.
func (c *conversations) starts(key string) (ended func(error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.ofLocked(key)
	done := make(chan struct{})
	v.starting = done
	return func(err error) {
		c.heard(key, err)
		c.mu.Lock()
		defer c.mu.Unlock()
		close(done)
		if errors.Is(err, memory.ErrUnavailable) && !errors.Is(err, memory.ErrKeySpent) && v.starting == done {
			v.starting = nil // the daemon has not heard of the key
		}
	}
}

// keepTried keeps what a start has given that nobody waited for.
func (c *conversations) keepTried(key string, o *outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ofLocked(key).tried = o
}

// takeTried gives that, once; nil where there is none.
func (c *conversations) takeTried(key string) *outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.ofLocked(key)
	o := v.tried
	v.tried = nil
	return o
}

// awaitStart waits until a start of the key that is under way has ended: a prompt
// that overtakes it is missing from the daemon's checkpoints.
func (c *conversations) awaitStart(ctx context.Context, key string) error {
	c.mu.Lock()
	starting := c.ofLocked(key).starting
	c.mu.Unlock()
	if starting == nil {
		return nil
	}
	select {
	case <-starting:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// heard notes what the daemon answered about a key.
func (c *conversations) heard(key string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.ofLocked(key)
	switch {
	case errors.Is(err, memory.ErrBypassed):
		v.owned = err
	case err == nil, errors.Is(err, memory.ErrKeySpent):
		v.known = true
	}
}

// bypassed gives the error with which a person's wish is repeated, nil where there is none.
func (c *conversations) bypassed(key string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ofLocked(key).owned
}

// unheard reports whether the daemon has not heard of the key from us.
func (c *conversations) unheard(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.ofLocked(key)
	return !v.known && v.starting == nil && v.owned == nil
}

// keepMessages keeps what has come for a key. What was told is not kept again.
func (c *conversations) keepMessages(key string, messages []memory.Item) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.ofLocked(key)
	v.messages = slices.DeleteFunc(messages, func(m memory.Item) bool { return v.told[m.ID] })
}

// tell notes which of the items that a session was given are messages, and gives those that are news.
func (c *conversations) tell(key string, items []string) (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.ofLocked(key)
	for _, item := range items {
		id, ok := strings.CutPrefix(item, messagePrefix)
		if !ok || v.told[item] {
			continue
		}
		if v.told == nil {
			v.told = map[string]bool{}
		}
		v.told[item] = true
		ids = append(ids, id)
	}
	v.messages = slices.DeleteFunc(v.messages, func(m memory.Item) bool { return v.told[m.ID] })
	return ids
}

// resumed forgets that the daemon has heard of a key.
func (c *conversations) resumed(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.ofLocked(key)
	v.known, v.starting = false, nil
}
