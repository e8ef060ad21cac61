package signet

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// keyStates is what a client knows of the keys that it has used.
type keyStates struct {
	mu  sync.Mutex
	all map[string]*keyState
}

// A keyState is what is known of one key.
type keyState struct {
	starting chan struct{} // closed when the start that is under way has ended; nil: none was made
	known    bool          // the daemon has heard of the key from us
	probed   *outcome      // of a probe's start, until Start takes it
	owned    error         // a person has switched the session off: final

	asked  []string // prompts that a recall has submitted, and Follow was not called for
	answer string   // what the assistant has said last, not told to the daemon

	messages []memory.Item   // from other agents, not told to the session yet
	guidance *memory.Item    // what a compaction is to keep, not told to the session yet
	told     map[string]bool // the ids of those that were told
}

// An outcome is what a start gave.
type outcome struct {
	got memory.Context
	err error
}

// with runs do on a key's state, which is made if need be, under the lock.
func (c *keyStates) with(key string, do func(*keyState)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = make(map[string]*keyState)
	}
	if c.all[key] == nil {
		c.all[key] = &keyState{}
	}
	do(c.all[key])
}

// drop drops what is known of a key.
func (c *keyStates) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, key)
}

// starts notes that a start was made; ended must be called when it has ended.
func (c *keyStates) starts(key string) (ended func(error)) {
	done := make(chan struct{})
	c.with(key, func(v *keyState) { v.starting = done })
	return func(err error) {
		c.heard(key, err)
		c.with(key, func(v *keyState) {
			close(done)
			if errors.Is(err, memory.ErrUnavailable) && !errors.Is(err, memory.ErrKeySpent) && v.starting == done {
				v.starting = nil // the daemon has not heard of the key
			}
		})
	}
}

// keepProbed keeps what a probe's start has given.
func (c *keyStates) keepProbed(key string, o *outcome) {
	c.with(key, func(v *keyState) { v.probed = o })
}

// takeProbed returns what keepProbed has kept, once; nil where there is nothing.
func (c *keyStates) takeProbed(key string) (o *outcome) {
	c.with(key, func(v *keyState) { o, v.probed = v.probed, nil })
	return o
}

// awaitStart waits until a start of the key that is under way has ended: a prompt that overtakes it would be missing
// from the daemon's checkpoints.
func (c *keyStates) awaitStart(ctx context.Context, key string) error {
	var starting chan struct{}
	c.with(key, func(v *keyState) { starting = v.starting })
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
func (c *keyStates) heard(key string, err error) {
	c.with(key, func(v *keyState) {
		switch {
		case errors.Is(err, memory.ErrBypassed):
			v.owned = err
		case err == nil, errors.Is(err, memory.ErrKeySpent):
			v.known = true
		}
	})
}

// bypassed returns the error for a key that a person has switched off, nil for any other.
func (c *keyStates) bypassed(key string) (err error) {
	c.with(key, func(v *keyState) { err = v.owned })
	return err
}

// Unheard reports whether the daemon has not heard of a key from us: the next hook makes its session a live one there.
func (c *Client) Unheard(key string) bool { return c.keys.unheard(key) }

// unheard reports whether the daemon has not heard of the key from us.
func (c *keyStates) unheard(key string) (so bool) {
	c.with(key, func(v *keyState) { so = !v.known && v.starting == nil && v.owned == nil })
	return so
}

// Answered notes what the assistant has said in a session, which goes to the daemon with its next prompt.
func (c *Client) Answered(key, text string) { c.keys.with(key, func(v *keyState) { v.answer = text }) }

// TakeAnswer returns what Answered has noted, once.
func (c *Client) TakeAnswer(key string) (answer string) {
	c.keys.with(key, func(v *keyState) { answer, v.answer = v.answer, "" })
	return answer
}

const maxAsked = 8

// recallBegins notes that a recall submits a prompt; maxAsked are remembered.
func (c *keyStates) recallBegins(key, prompt string) {
	c.with(key, func(v *keyState) {
		v.asked = append(v.asked, prompt)
		v.asked = v.asked[max(0, len(v.asked)-maxAsked):]
	})
}

// recalled reports whether a recall has submitted a prompt that was not followed yet.
func (c *keyStates) recalled(key, prompt string) (so bool) {
	c.with(key, func(v *keyState) {
		at := slices.Index(v.asked, prompt)
		if so = at >= 0; so {
			v.asked = slices.Delete(v.asked, at, at+1)
		}
	})
	return so
}

// keepMessages keeps messages that have come for a key, without those that were told to it before.
func (c *keyStates) keepMessages(key string, messages []memory.Item) {
	c.with(key, func(v *keyState) {
		v.messages = slices.DeleteFunc(messages, func(m memory.Item) bool { return v.told[m.ID] })
	})
}

// keepGuidance keeps what the daemon says about a compaction until the session has been told.
func (c *keyStates) keepGuidance(key string, it memory.Item) {
	c.with(key, func(v *keyState) { v.guidance = &it })
}

// newlyTold notes which of the items that a session was given are messages, and returns the ids of those that it had
// not been given before.
func (c *keyStates) newlyTold(key string, items []string) (ids []string) {
	c.with(key, func(v *keyState) {
		if v.guidance != nil && slices.Contains(items, v.guidance.ID) {
			v.guidance = nil
		}
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
	})
	return ids
}

// resumed forgets that the daemon has heard of a key.
func (c *keyStates) resumed(key string) {
	c.with(key, func(v *keyState) { v.known, v.starting = false, nil })
}
