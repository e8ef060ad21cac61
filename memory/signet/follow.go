package signet

import (
	"context"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Follow tells the daemon of a prompt that nothing was asked for, beside the
// conversation: once of a session that was resumed, so that its end is taken at
// once and others see that it is there; with each, of every prompt. It asks
// nothing while the daemon is left alone. It ends with ctx or after
// Options.PromptTimeout, and a session's start that is under way is waited for.
//
// Errors: memory.ErrOwned, memory.ErrUnavailable.
func (c *Client) Follow(ctx context.Context, p Prompt, each bool) (err error) {
	key := p.Session.Key
	p.Text = sendable(p.Text)
	if key == "" || p.Text == "" || !each && !c.conversations.unheard(key) {
		return nil
	}
	if err := c.conversations.bypassed(key); err != nil {
		return err
	}
	switch turn, done := c.rest.take(); turn {
	case callNone:
		return unavailable(errResting)
	case callTry:
		defer done()
		defer func() { c.tried(err) }()
	}
	return c.follow(ctx, p, each)
}

// follow does so now, of a prompt as it may be told.
func (c *Client) follow(ctx context.Context, p Prompt, each bool) error {
	key := p.Session.Key
	if err := c.conversations.awaitStart(ctx, key); err != nil {
		return unavailable(err)
	}
	if err := c.conversations.bypassed(key); err != nil {
		return err
	}
	first := c.conversations.unheard(key)
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	h, err := c.Health(ctx)
	if err != nil {
		return err
	}
	if first && h.Newer {
		if err := c.Claim(ctx, p.Session); err != nil || !each {
			return err
		}
	}
	r, err := c.submit(ctx, p)
	c.conversations.heard(key, err)
	if err != nil {
		return err
	}
	c.conversations.keepMessages(key, r.messages())
	if h.Newer && r.SessionKnown != nil && !*r.SessionKnown {
		return c.Claim(ctx, p.Session)
	}
	return nil
}

// Compacting tells the daemon that a session's harness has begun to sum the
// conversation up (POST /api/hooks/pre-compaction), beside it. What the daemon
// would have the summary say comes too late for a harness that has begun. It ends
// with ctx or after 10 s, and asks nothing while the daemon is left alone. Errors
// as of Follow.
func (c *Client) Compacting(ctx context.Context, s memory.Session) error {
	if err := c.conversations.bypassed(s.Key); err != nil {
		return err
	}
	if c.rest.rests() {
		return unavailable(errResting)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := c.ours(ctx); err != nil {
		return err
	}
	var r ownership
	err := c.post(ctx, "/api/hooks/pre-compaction", struct {
		Harness     string `json:"harness"`
		SessionKey  string `json:"sessionKey"`
		Project     string `json:"project,omitempty"`
		AgentID     string `json:"agentId,omitempty"`
		RuntimePath string `json:"runtimePath"`
	}{Harness, s.Key, s.Project, c.agent(s), "plugin"}, &r)
	if err != nil {
		return unavailable(err)
	}
	if err = r.err(); err != nil {
		c.conversations.heard(s.Key, err)
	}
	return err
}

// FollowTimeout is how long Follow takes at most, starts that are waited for included.
const FollowTimeout = defaultStartTimeout + callTimeout + time.Second
