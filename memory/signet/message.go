package signet

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Messages gives what other agents have sent under a key that came beside its
// prompts (Follow), until it is acknowledged.
func (c *Client) Messages(key string) []memory.Item {
	c.conversations.mu.Lock()
	defer c.conversations.mu.Unlock()
	v := c.conversations.all[key]
	if v == nil {
		return nil
	}
	return slices.Clone(v.messages)
}

// Send leaves a message of an agent's for a session, as that one's inbox and the
// replies to its hooks show it, and gives its id (POST /api/cross-agent/messages).
// It ends with ctx or after 10 s. Errors are those of Remember.
func (c *Client) Send(ctx context.Context, from, key, content string) (id string, err error) {
	raw, err := c.memories(ctx, http.MethodPost, "/api/cross-agent/messages", struct {
		From    string `json:"fromAgentId,omitempty"`
		To      string `json:"toSessionKey"`
		Type    string `json:"type"`
		Content string `json:"content"`
	}{from, key, "info", content})
	if err != nil {
		return "", err
	}
	var reply struct{ Message struct{ ID string } }
	if json.Unmarshal(raw, &reply) != nil || reply.Message.ID == "" {
		return "", errors.New("the daemon's answer names no message")
	}
	return reply.Message.ID, nil
}

// Acknowledge says that a session was given items, as far as they are messages
// (POST /api/cross-agent/messages/ID/ack). It ends with ctx or after 10 s for
// each. Errors wrap memory.ErrUnavailable; what was not acknowledged comes again
// in another session.
func (c *Client) Acknowledge(ctx context.Context, s memory.Session, items []string) (err error) {
	for _, id := range c.conversations.tell(s.Key, items) {
		_, failed := c.memories(ctx, http.MethodPost, "/api/cross-agent/messages/"+url.PathEscape(id)+"/ack", struct {
			AgentID    string `json:"agentId,omitempty"`
			SessionKey string `json:"sessionKey"`
		}{c.agent(s), s.Key})
		err = errors.Join(err, unavailable(failed))
	}
	return err
}
