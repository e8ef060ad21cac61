package signet

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A keyState is what is known of one key.
type keyState struct {
	starting chan struct{} // closed when the start that is under way has ended; nil: none was made
	known    bool          // the daemon has heard of the key from us
	owned    error         // a person has switched the session off: final

	probed func() (memory.Context, error) // what a probe's start has given, until Start takes it

	asked  []string // prompts that a recall has submitted, and Follow was not called for
	answer string   // what the assistant has said last, not told to the daemon

	messages []memory.Item   // from other agents, not told to the session yet
	guidance *memory.Item    // what a compaction is to keep, not told to the session yet
	told     map[string]bool // the ids of those that were told
}

// onKey runs do on a key's state, which is made if need be, under the lock.
func (c *Client) onKey(key string, do func(*keyState)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keys == nil {
		c.keys = make(map[string]*keyState)
	}
	if c.keys[key] == nil {
		c.keys[key] = &keyState{}
	}
	do(c.keys[key])
}

// starts notes that a start was made; ended must be called when it has ended.
func (c *Client) starts(key string) (ended func(error)) {
	done := make(chan struct{})
	c.onKey(key, func(v *keyState) { v.starting = done })
	return func(err error) {
		c.heard(key, err)
		c.onKey(key, func(v *keyState) {
			close(done)
			if errors.Is(err, memory.ErrUnavailable) && !errors.Is(err, memory.ErrKeySpent) && v.starting == done {
				v.starting = nil // the daemon has not heard of the key
			}
		})
	}
}

// awaitStart waits until a start of the key that is under way has ended: a prompt that overtakes it would be missing
// from the daemon's checkpoints. The error is that there was no time for it, or what the start may have brought: that
// a person has switched the session off.
func (c *Client) awaitStart(ctx context.Context, key string) error {
	var starting chan struct{}
	c.onKey(key, func(v *keyState) { starting = v.starting })
	if starting != nil {
		select {
		case <-starting:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", memory.ErrUnavailable, ctx.Err())
		}
	}
	return c.bypassed(key)
}

// heard notes what the daemon answered about a key.
func (c *Client) heard(key string, err error) {
	c.onKey(key, func(v *keyState) {
		switch {
		case errors.Is(err, memory.ErrBypassed):
			v.owned = err
		case err == nil, errors.Is(err, memory.ErrKeySpent):
			v.known = true
		}
	})
}

// bypassed returns the error for a key that a person has switched off, nil for any other.
func (c *Client) bypassed(key string) (err error) {
	c.onKey(key, func(v *keyState) { err = v.owned })
	return err
}

// Unheard reports whether the daemon has not heard of a key from us: the next hook makes its session a live one there.
func (c *Client) Unheard(key string) (so bool) {
	c.onKey(key, func(v *keyState) { so = !v.known && v.starting == nil && v.owned == nil })
	return so
}

// Answered notes what the assistant has said in a session, which goes to the daemon with its next prompt.
func (c *Client) Answered(key, text string) { c.onKey(key, func(v *keyState) { v.answer = text }) }

// TakeAnswer returns what Answered has noted, once.
func (c *Client) TakeAnswer(key string) (answer string) {
	c.onKey(key, func(v *keyState) { answer, v.answer = v.answer, "" })
	return answer
}

const maxAsked = 8

// recallBegins notes that a recall submits a prompt; maxAsked are remembered.
func (c *Client) recallBegins(key, prompt string) {
	c.onKey(key, func(v *keyState) {
		v.asked = append(v.asked, prompt)
		v.asked = v.asked[max(0, len(v.asked)-maxAsked):]
	})
}

// recalled reports whether a recall has submitted a prompt that was not followed yet.
func (c *Client) recalled(key, prompt string) (so bool) {
	c.onKey(key, func(v *keyState) {
		at := slices.Index(v.asked, prompt)
		if so = at >= 0; so {
			v.asked = slices.Delete(v.asked, at, at+1)
		}
	})
	return so
}

// resumed forgets that the daemon has heard of a key.
func (c *Client) resumed(key string) {
	c.onKey(key, func(v *keyState) { v.known, v.starting = false, nil })
}
