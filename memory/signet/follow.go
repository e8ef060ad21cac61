package signet

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Follow tells the daemon of a prompt, beside the conversation, unless a recall has done so. Without each it does so
// only for a key that the daemon has not heard of from this client, as after a resume: then the daemon takes the
// session's end at once, and others see that the session is there. It makes no call while the daemon is left alone. It
// waits for a start of the key that is under way, and ends with ctx or callTimeout after that.
//
// Errors: memory.ErrOwned, memory.ErrUnavailable.
func (c *Client) Follow(ctx context.Context, p Prompt, each bool) (err error) {
	key := p.Session.Key
	if key == "" || p.Text == "" || !each && !c.Unheard(key) {
		return nil
	}
	if err := c.bypassed(key); err != nil {
		return err
	}
	switch turn, done := c.presence.allow(); turn {
	case callDenied:
		return unavailable(errOpen)
	case callProbe:
		defer done()
		defer func() { c.probed(err) }()
	}
	return c.follow(ctx, p, each)
}

// follow does that without asking whether the daemon is left alone.
func (c *Client) follow(ctx context.Context, p Prompt, each bool) error {
	key := p.Session.Key
	if err := c.awaitStart(ctx, key); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	h, err := c.Health(ctx)
	if err != nil {
		return err
	}
	// not before: it costs more than all else, and mostly no daemon is there
	if p.Text = sendable(p.Text); p.Text == "" || c.recalled(key, p.Text) {
		return nil
	}
	first := c.Unheard(key)
	if first {
		if p.Starting != nil {
			p.Starting(ctx)
		}
		if h.Newer {
			if err := c.Claim(ctx, p.Session); err != nil || !each {
				return err
			}
		}
	}
	r, err := c.submit(ctx, p)
	c.heard(key, err)
	if err != nil {
		return err
	}
	c.keepMessages(key, c.messages(ctx, p.Session, r.notifications))
	if h.Newer && r.SessionKnown != nil && !*r.SessionKnown {
		return c.Claim(ctx, p.Session)
	}
	return nil
}

// Compacting tells the daemon that a session's harness has begun to summarise the conversation (POST
// /api/hooks/pre-compaction). The guidance that the daemon answers with comes too late for the harness, so it is one of
// the session's Messages: it goes in with the next block. It ends with ctx or after 10 s, and makes no call while the
// daemon is left alone. Errors as of Follow.
func (c *Client) Compacting(ctx context.Context, s memory.Session) error {
	ctx, cancel, err := c.beside(ctx, s)
	if err != nil {
		return err
	}
	defer cancel()
	var r struct {
		ownership
		Guidelines string
	}
	err = c.postBound(ctx, "pre-compaction", c.hook(s), &r)
	if err != nil {
		return unavailable(err)
	}
	if err = r.err(); err != nil {
		c.heard(s.Key, err)
	} else if text := strings.TrimSpace(chars.Cut(newlines(r.Guidelines), maxMessage)); text != "" {
		now := c.opts.Now()
		it := memory.Item{ID: guidance + now.UTC().Format(time.RFC3339Nano), Origin: "signet",
			Text: "Signet on what to keep of the conversation that was summarised: " + text, Date: now}
		c.onKey(s.Key, func(v *keyState) { v.guidance = &it })
	}
	return err
}

// Skill tells the daemon that a prompt names a skill (POST /api/hooks/skill-invocation), where the daemon has that
// hook. It ends with ctx or after 10 s, and makes no call while the daemon is left alone. Errors as of Follow.
func (c *Client) Skill(ctx context.Context, s memory.Session, name string) error {
	ctx, cancel, err := c.beside(ctx, s)
	if err != nil {
		return err
	}
	defer cancel()
	ask := c.hook(s)
	ask.SkillName, ask.SessionID, ask.Cwd, ask.Origin = name, s.Key, s.Cwd, "plugin"
	err = c.postBound(ctx, "skill-invocation", ask, nil)
	if isStatus(err, http.StatusNotFound) { // before the kind that is documented
		return nil
	}
	return unavailable(err)
}

// beside begins a call that no conversation waits for, of a session that is not switched off, to a daemon that is not
// left alone. Without an error, cancel must be called.
func (c *Client) beside(
	ctx context.Context, s memory.Session,
) (_ context.Context, cancel context.CancelFunc, err error) {
	if err := c.bypassed(s.Key); err != nil {
		return nil, nil, err
	}
	if c.LeftAlone() {
		return nil, nil, unavailable(errOpen)
	}
	ctx, cancel = context.WithTimeout(ctx, callTimeout)
	return ctx, cancel, nil
}

// FollowTimeout is how long Follow takes at most, waiting for a start included.
const FollowTimeout = defaultStartTimeout + callTimeout + time.Second
