package signet

import (
	"context"
	"fmt"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

type promptReply struct {
	Inject         string
	DynamicContext *string
	MemoryCount    int
	SessionKnown   *bool
	ownership
	notifications
}

// sendable returns what of a prompt may reach the daemon, in the form that it has in a transcript, because a daemon
// from 0.145 on keeps the longer of the two. The first cut limits the work; it leaves more than is sent, so that no
// secret is cut in two and missed.
func sendable(prompt string) string {
	return strings.TrimSpace(chars.Cut(privacy.Line(chars.Cut(prompt, 2*maxPrompt)), maxPrompt))
}

// A Prompt is a prompt that the daemon is told of.
type Prompt struct {
	Session memory.Session
	Text    string // the user's words
	Last    string // what the assistant said last, "" where that is not told
	// Starting is called before the daemon hears of the key for the first time. It may be nil.
	Starting func(context.Context)
}

// submit posts a prompt whose text is sendable (POST /api/hooks/user-prompt-submit). The daemon answers with what it
// knows about it.
func (c *Client) submit(ctx context.Context, p Prompt) (promptReply, error) {
	var r promptReply
	ask := c.hook(p.Session)
	ask.UserMessage, ask.LastAssistantMessage = p.Text, privacy.Line(p.Last)
	err := c.postBound(ctx, "user-prompt-submit", ask, &r)
	switch {
	case isStatus(err, 409):
		return r, fmt.Errorf("%w: %w", memory.ErrOwned, err)
	case err != nil:
		return r, unavailable(err)
	}
	return r, r.err()
}
