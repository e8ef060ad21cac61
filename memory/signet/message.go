package signet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Messages returns what came for a key beside its prompts, until it is acknowledged: messages of other agents (Follow),
// and what the daemon says about a compaction (Compacting).
func (c *Client) Messages(key string) (all []memory.Item) {
	c.onKey(key, func(v *keyState) {
		all = slices.Clone(v.messages)
		if v.guidance != nil {
			all = append(all, *v.guidance)
		}
	})
	return all
}

// inboxTimeout: a block waits for the inbox.
const inboxTimeout = 300 * time.Millisecond

// messages returns the messages for a session: those of a hook's reply, or of the inbox where the daemon's version adds
// none to its replies (GET /api/cross-agent/messages). Without an answer in time there are none.
func (c *Client) messages(ctx context.Context, s memory.Session, n notifications) []memory.Item {
	if n.Notifications != nil || newer(c.presence.seenVersion()) {
		return n.messages()
	}
	ctx, cancel := context.WithTimeout(ctx, inboxTimeout)
	defer cancel()
	q := url.Values{"session_key": {s.Key}, "limit": {strconv.Itoa(maxMessages)}, "unread_only": {"true"}}
	if agent := cmp.Or(s.AgentID, c.opts.AgentID); agent != "" {
		q.Set("agent_id", agent)
	}
	raw, err := c.api(ctx, "GET /api/cross-agent/messages?"+q.Encode(), nil)
	if err != nil {
		return nil
	}
	return notifications{raw}.messages()
}

// Send leaves a message from an agent for a session, which finds it in its inbox and in the replies to its hooks (POST
// /api/cross-agent/messages). It returns the message's id, and ends with ctx or after 10 s. Errors are those of
// Remember.
func (c *Client) Send(ctx context.Context, from, key, content string) (id string, err error) {
	raw, err := c.api(ctx, "POST /api/cross-agent/messages", struct {
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
// again in another session. An older daemon takes no acknowledgement.
func (c *Client) Acknowledge(ctx context.Context, s memory.Session, items []string) (err error) {
	for _, id := range c.newlyTold(s.Key, items) {
		_, failed := c.api(ctx, "POST /api/cross-agent/messages/"+url.PathEscape(id)+"/ack", struct {
			AgentID    string `json:"agentId,omitempty"`
			SessionKey string `json:"sessionKey"`
		}{cmp.Or(s.AgentID, c.opts.AgentID), s.Key})
		if !isStatus(failed, http.StatusNotFound) {
			err = errors.Join(err, unavailable(failed))
		}
	}
	return err
}

// keepMessages keeps messages that have come for a key, without those that were told to it before.
func (c *Client) keepMessages(key string, messages []memory.Item) {
	c.onKey(key, func(v *keyState) {
		v.messages = slices.DeleteFunc(messages, func(m memory.Item) bool { return v.told[m.ID] })
	})
}

// newlyTold notes which of the items that a session was given are messages, and returns the ids of those that it had
// not been given before.
func (c *Client) newlyTold(key string, items []string) (ids []string) {
	c.onKey(key, func(v *keyState) {
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
