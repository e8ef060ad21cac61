package signet

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// notifications is what a newer daemon adds to the replies of its hooks: what
// other agents have sent to this one, again with each until it is acknowledged.
type notifications struct {
	Notifications json.RawMessage // read apart: a reply is not lost to what they are
}

const (
	messagePrefix = "message:" // in front of a message's id, among those of memories
	mostMessages  = 8          // that a session is told of at once
	maxMessage    = 2 << 10    // bytes of one; the daemon cuts at 1,800 characters
)

// messages are notes like any other recalled ones: somebody else's words.
func (n notifications) messages() (all []memory.Item) {
	var sent struct {
		Items []struct{ ID, FromAgentID, Type, Content, CreatedAt string }
	}
	if json.Unmarshal(n.Notifications, &sent) != nil {
		return nil
	}
	for _, m := range sent.Items {
		text := chars.Cut(newlines(m.Content), maxMessage)
		if m.ID == "" || strings.TrimSpace(text) == "" || len(all) == mostMessages {
			continue
		}
		from := "agent " + chars.Cut(oneLine(m.FromAgentID), 64)
		what := "Message from " + from
		if kind := chars.Cut(oneLine(m.Type), 32); kind != "" {
			what += " (" + strings.ReplaceAll(kind, "_", " ") + ")"
		}
		all = append(all, memory.Item{ID: messagePrefix + chars.Cut(m.ID, 128), Text: what + ": " + text, Origin: from,
			Date: parseDate(m.CreatedAt)})
	}
	return all
}

// messagesHeading begins what a daemon adds to its text for messages.
const messagesHeading = "## Cross-agent notifications"

// cutMessages takes messages out of a daemon's text, for they are items by
// themselves: what stands last, if it names one of them. A file can forge the
// heading, but not the id.
func cutMessages(s string, messages []memory.Item) string {
	at := strings.LastIndex("\n"+s, "\n"+messagesHeading)
	if at < 0 || len(messages) == 0 || !strings.Contains(s[at:], strings.TrimPrefix(messages[0].ID, messagePrefix)) {
		return s
	}
	return s[:at]
}

// IsMessage reports whether an item of a context is a message of another agent, by the item's id.
func IsMessage(id string) bool { return strings.HasPrefix(id, messagePrefix) }

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

// keepMessages keeps what has come for a key. What was told is not kept again.
func (c *conversations) keepMessages(key string, messages []memory.Item) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.ofLocked(key)
	v.messages = slices.DeleteFunc(messages, func(m memory.Item) bool { return v.told[m.ID] })
}

// tell notes which of the items that a session was given are messages, and gives those that are news.
func (c *conversations) tell(key string, items []string) (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.ofLocked(key)
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
	return ids
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
