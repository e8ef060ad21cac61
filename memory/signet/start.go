package signet

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

type startRequest struct {
	Harness          string `json:"harness"`
	SessionKey       string `json:"sessionKey,omitempty"`
	Project          string `json:"project,omitempty"`
	AgentID          string `json:"agentId,omitempty"`
	ParentSessionKey string `json:"parentSessionKey,omitempty"`
	RuntimePath      string `json:"runtimePath"`
}

type startReply struct {
	Identity *struct{ Name, Description string }
	Memories []struct{}
	// An older daemon puts all it has to say into one text.
	Inject *string
	// A newer one says it in two parts as well.
	StableSystemPrompt, DynamicContext *string

	ownership
	Deduped bool
}

// ownership: how the reply to a hook says that the session is another's.
type ownership struct {
	Bypassed, Skipped, DuplicateRuntimePath bool
	ClaimedBy                               string
}

func (o ownership) err() error {
	switch {
	case o.Bypassed:
		return fmt.Errorf("%w: bypassed", memory.ErrOwned)
	case o.DuplicateRuntimePath:
		return fmt.Errorf("%w: claimed by the %s path", memory.ErrOwned, clip(o.ClaimedBy, 32))
	case o.Skipped:
		return fmt.Errorf("%w: skipped", memory.ErrOwned)
	}
	return nil
}

// Start asks for a session's context (POST /api/hooks/session-start), once: the
// daemon gives a key's context to the first who asks and a stub to everyone
// after. It ends with ctx or after Options.StartTimeout.
//
// Errors: memory.ErrOwned; memory.ErrUnavailable; memory.ErrKeySpent for the
// stub, and together with ErrUnavailable where the request went out and no
// readable answer came. ErrUnavailable alone leaves the key fresh.
func (c *Client) Start(ctx context.Context, s memory.Session) (memory.Context, error) {
	if !c.starts.allow() {
		return memory.Context{}, unavailable(errResting)
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.StartTimeout)
	defer cancel()
	began := time.Now()
	r, err := c.start(ctx, s)
	c.settle(&c.starts, ctx, err)
	if err != nil {
		return memory.Context{}, err
	}
	out := memory.Context{
		Source:  memory.FromDaemon,
		Version: c.seenVersion(),
		Fetched: c.opts.Now(),
		Took:    time.Since(began),
	}
	if !r.split() {
		out.Mixed = clean(text(r.Inject))
		return out, nil
	}
	out.Identity = clean(text(r.StableSystemPrompt))
	if dynamic := clean(text(r.DynamicContext)); holdsFiles.MatchString(dynamic) {
		out.Mixed = dynamic
	} else {
		out.Notes = dynamic
	}
	return out, nil
}

func (c *Client) start(ctx context.Context, s memory.Session) (startReply, error) {
	var r startReply
	if err := c.ours(ctx); err != nil {
		return r, err
	}
	err := c.post(ctx, "/api/hooks/session-start", startRequest{
		Harness:          Harness,
		SessionKey:       s.Key,
		Project:          s.Project,
		AgentID:          c.agent(s),
		ParentSessionKey: s.ParentKey,
		RuntimePath:      "plugin",
	}, &r)
	switch {
	case isStatus(err, 409):
		return r, fmt.Errorf("%w: %w", memory.ErrOwned, err)
	case inDoubt(err):
		return r, fmt.Errorf("%w: %w", memory.ErrKeySpent, unavailable(err))
	case err != nil:
		return r, unavailable(err)
	}
	if err := r.err(); err != nil {
		return r, err
	}
	if r.Inject == nil && !r.split() {
		return r, fmt.Errorf("%w: %w", memory.ErrKeySpent, unavailable(errGarbage))
	}
	if r.stub() {
		return r, fmt.Errorf("%w: the daemon gave this key's context before", memory.ErrKeySpent)
	}
	return r, nil
}

// holdsFiles finds a newer daemon's dynamicContext that holds the user's files
// beside memories: upstream's stableSystemPrompt is Signet's own instructions
// and all else is dynamic. Such a text is as mixed as an older daemon's inject.
var holdsFiles = regexp.MustCompile(`(?m)^## (?:Agent Instructions|Soul|Identity|About Your User|Working Memory)\s*$`)

func (r *startReply) split() bool { return r.StableSystemPrompt != nil || r.DynamicContext != nil }

// stub reports the reply that a second start with one key gets. It is told from
// an identity by holding nothing: no memories, a placeholder for a name, and a
// text of status lines and the clock alone. The newer kind repeats its standing
// instructions, so only its dynamic part counts.
func (r *startReply) stub() bool {
	if r.Deduped {
		return true
	}
	if r.Identity == nil || len(r.Memories) > 0 ||
		r.Identity.Description != "" || r.Identity.Name != "" && r.Identity.Name != "Agent" {
		return false
	}
	said := r.Inject
	if r.DynamicContext != nil {
		said = r.DynamicContext
	}
	return clean(text(said)) == "" && strings.TrimSpace(text(said)) != ""
}

// settle tells a breaker how a call ended. A session that is another's, or a
// key that is spent, is a daemon that works; a caller who left says nothing.
func (c *Client) settle(b *breaker, ctx context.Context, err error) {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		b.leave()
	case err == nil, !errors.Is(err, memory.ErrUnavailable):
		b.ok()
	default:
		b.fail()
	}
}

var errResting = errors.New("not asked: it failed three times within the last moments")

func (c *Client) agent(s memory.Session) string {
	if s.AgentID != "" {
		return s.AgentID
	}
	return c.opts.AgentID
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
