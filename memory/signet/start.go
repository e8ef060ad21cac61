package signet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

type startReply struct {
	Identity *struct{ Name, Description string }
	Memories []startMemory
	// An older daemon puts all it has to say into one text.
	Inject *string
	// A newer one also gives it in two parts.
	StableSystemPrompt, DynamicContext *string

	ownership
	notifications
	Deduped  bool
	Warnings []json.RawMessage
}

// A startMemory is one of the memories that a start returns, best first.
type startMemory struct {
	ID, Content string
	CreatedAt   string `json:"created_at"`
}

// Start asks for a session's context (POST /api/hooks/session-start), once: the daemon gives a key's context to the
// first caller and a stub to everyone after. It ends with ctx or after Options.StartTimeout. Memories are the items
// that the daemon names, not lines of its text, which is long and has them last.
//
// While the daemon is left alone it fails at once. Where it is time to probe it, the start goes on in a goroutine, and
// the key's next Start returns its result.
//
// Errors: memory.ErrOwned; memory.ErrUnavailable; memory.ErrKeySpent for the stub, and together with ErrUnavailable
// where the request went out and no readable answer came. After ErrUnavailable alone the key can still be started.
func (c *Client) Start(ctx context.Context, s memory.Session) (memory.Context, error) {
	turn, done := c.presence.allow()
	var probed func() (memory.Context, error)
	c.onKey(s.Key, func(v *keyState) { probed, v.probed = v.probed, nil })
	if probed != nil {
		if done != nil {
			done()
		}
		return probed()
	}
	switch turn {
	case callDenied:
		return memory.Context{}, unavailable(errOpen)
	case callProbe:
		ended := c.starts(s.Key)
		c.probe(done, c.opts.StartTimeout, func(ctx context.Context) error {
			got, err := c.context(ctx, s)
			c.onKey(s.Key, func(v *keyState) { v.probed = func() (memory.Context, error) { return got, err } })
			ended(err)
			return err
		})
		return memory.Context{}, unavailable(errOpen)
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.StartTimeout)
	defer cancel()
	began := time.Now()
	if c.opts.Hold > 0 { // by then a prompt has waited in vain
		defer time.AfterFunc(c.opts.Hold, guard.Func("fetch", c.presence.failed)).Stop()
	}
	ended := c.starts(s.Key)
	got, err := c.context(ctx, s)
	ended(err)
	// A process that ends may have waited as well: its prompt came before the start was sent.
	waited := c.opts.Hold > 0 && time.Since(began) >= c.opts.Hold/2
	if waited || !errors.Is(ctx.Err(), context.Canceled) {
		c.settleShared(began, err)
	}
	return got, err
}

// context makes the start, and the Context of its reply.
func (c *Client) context(ctx context.Context, s memory.Session) (memory.Context, error) {
	began := time.Now()
	r, err := c.start(ctx, s, false)
	if err != nil {
		return memory.Context{}, err
	}
	messages := c.messages(ctx, s, r.notifications)
	out := memory.Context{
		Source:   memory.FromDaemon,
		Version:  c.presence.seenVersion(),
		Fetched:  c.opts.Now(),
		Took:     time.Since(began),
		Items:    append(messages, r.items()...),
		Warnings: r.warnings(),
	}
	if !r.isSplit() {
		notes, said := cutToolNotes(cutMessages(text(r.Inject), messages))
		out.ToolNotes, out.Mixed = clean(notes), cutMemories(clean(said), out.Items)
		out.Items = c.ofProject(ctx, s, out.Items)
		return out, nil
	}
	if stable := clean(text(r.StableSystemPrompt)); strings.HasPrefix(stable, toolNotesOpen) {
		out.ToolNotes = stable
	} else {
		out.Identity = stable
	}
	dynamic := cutMemories(clean(cutMessages(text(r.DynamicContext), messages)), out.Items)
	if holdsFiles().MatchString(dynamic) {
		out.Mixed = dynamic
	} else {
		out.Notes = dynamic
	}
	out.Items = c.ofProject(ctx, s, out.Items)
	return out, nil
}

// start posts session-start and sorts the replies that are no context. Errors as of Start.
func (c *Client) start(ctx context.Context, s memory.Session, claimOnly bool) (startReply, error) {
	var r startReply
	ask := c.hook(s)
	ask.ParentSessionKey, ask.ClaimOnly = s.ParentKey, claimOnly
	err := c.post(ctx, "session-start", ask, &r)
	switch {
	case isStatus(err, 409):
		return r, fmt.Errorf("%w: %w", memory.ErrOwned, err)
	case inDoubt(err):
		return r, fmt.Errorf("%w: %w", memory.ErrKeySpent, unavailable(err))
	case err != nil:
		return r, unavailable(err)
	}
	if err := r.err(); err != nil || claimOnly {
		return r, err
	}
	if r.Inject == nil && !r.isSplit() {
		return r, fmt.Errorf("%w: %w", memory.ErrKeySpent, unavailable(errGarbage))
	}
	if r.stub() {
		return r, fmt.Errorf("%w: the daemon gave this key's context before", memory.ErrKeySpent)
	}
	return r, nil
}

// Claim tells the daemon that a key's session goes on, and nothing else: a daemon that knows claimOnly gives no
// context, and what another gives is dropped. It ends with ctx or after 10 s. Errors as of Start.
func (c *Client) Claim(ctx context.Context, s memory.Session) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := c.start(ctx, s, true)
	c.heard(s.Key, err)
	return err
}

// items are the memories of a start.
func (r *startReply) items() (items []memory.Item) {
	for _, m := range r.Memories {
		if strings.TrimSpace(m.Content) == "" || len(items) == maxMemories {
			continue
		}
		items = append(items, memory.Item{ID: chars.Cut(m.ID, 128), Text: newlines(chars.Cut(m.Content, maxMemory)),
			Date: parseDate(m.CreatedAt)})
	}
	return items
}

const (
	maxMemories = 200     // of a start
	maxMemory   = 8 << 10 // bytes of one
	maxWarnings = 10
)

// warnings returns a newer daemon's warnings, a line each: they are texts, or objects with a message.
func (r *startReply) warnings() (lines []string) {
	for _, raw := range r.Warnings[:min(len(r.Warnings), maxWarnings)] {
		var line string
		var object struct{ Message string }
		if json.Unmarshal(raw, &line) != nil && json.Unmarshal(raw, &object) == nil {
			line = object.Message
		}
		if line = chars.Cut(chars.OneLine(line), 200); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// holdsFiles matches a newer daemon's dynamicContext that holds the user's files beside memories: its
// stableSystemPrompt is then Signet's own instructions, and all else is dynamic. Such a text is as mixed as an older
// daemon's inject.
var holdsFiles = pattern.New(`(?m)^## (?:Agent Instructions|Soul|Identity|About Your User|Working Memory)\s*$`)

// isSplit reports whether the reply is a newer daemon's, with its text in two parts.
func (r *startReply) isSplit() bool { return r.StableSystemPrompt != nil || r.DynamicContext != nil }

// stub reports whether this is the reply that a second start with one key gets. It differs from an identity by being
// empty: no memories, a placeholder for a name, and a text of nothing but status lines and the clock. The notes on
// tools are repeated in it, so they do not count.
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
	_, rest := cutToolNotes(text(said))
	return clean(rest) == "" && strings.TrimSpace(text(said)) != ""
}

// postBound is post for a session that the daemon may want started first, as from 1.0 on: a refusal that names the
// session is answered by a start and one more try.
func (c *Client) postBound(ctx context.Context, name string, r hookRequest, out any) error {
	err := c.post(ctx, name, r, out)
	if refused := refusal(err); refused == nil || refused.Code >= 500 || refused.Code == http.StatusConflict ||
		!strings.Contains(strings.ToLower(refused.Message), "session") {
		return err
	}
	if _, failed := c.start(ctx, r.of, true); failed != nil {
		return err
	}
	return c.post(ctx, name, r, out)
}
