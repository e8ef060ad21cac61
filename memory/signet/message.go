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

// Messages gives the messages of other agents that came for a key with the replies to its prompts (Follow), until they
// are acknowledged.
func (c *Client) Messages(key string) []memory.Item {
	c.keys.mu.Lock()
	defer c.keys.mu.Unlock()
	v := c.keys.all[key]
	if v == nil {
		return nil
	}
	return slices.Clone(v.messages)
}

// Send leaves a message from an agent for a session, which finds it in its inbox and in the replies to its hooks (POST
// /api/cross-agent/messages). It gives the message's id, and ends with ctx or after 10 s. Errors are those of Remember.
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

// Acknowledge tells the daemon which messages among items a session was given (POST /api/cross-agent/messages/ID/ack).
// It ends with ctx or after 10 s for each. Errors wrap memory.ErrUnavailable; a message that was not acknowledged comes
// again in another session.
func (c *Client) Acknowledge(ctx context.Context, s memory.Session, items []string) (err error) {
	for _, id := range c.keys.newlyTold(s.Key, items) {
		_, failed := c.memories(ctx, http.MethodPost, "/api/cross-agent/messages/"+url.PathEscape(id)+"/ack", struct {
			AgentID    string `json:"agentId,omitempty"`
			SessionKey string `json:"sessionKey"`
		}{c.agent(s), s.Key})
		err = errors.Join(err, unavailable(failed))
	}
	return err
}
