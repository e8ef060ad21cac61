package daemontest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Send leaves a message of another agent for every session, and gives its id. The newer kind adds it to its replies
// until it is acknowledged; the others have it in the inbox alone.
func (d *Daemon) Send(from, content string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := &message{id: d.id("msg"), from: from, content: content, sent: d.opts.Now()}
	d.messages = append(d.messages, m)
	return m.id
}

// sent stores a message that an agent or a runner sends.
func (d *Daemon) sent(w http.ResponseWriter, r *http.Request) {
	var b struct{ FromAgentID, ToSessionKey, Content string }
	if json.NewDecoder(r.Body).Decode(&b) != nil || b.Content == "" || b.ToSessionKey == "" {
		reply(w, http.StatusBadRequest, map[string]any{"error": "local target required"})
		return
	}
	reply(w, http.StatusOK, map[string]any{"message": map[string]any{"id": d.Send(b.FromAgentID, b.Content)}})
}

// listMessages is the inbox, as its source reads. Only the newer kind knows what was acknowledged.
func (d *Daemon) listMessages(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	items := []any{}
	for _, m := range d.messages {
		if len(m.acknowledged) == 0 || r.FormValue("unread_only") == "" {
			items = append(items, m.item())
		}
	}
	reply(w, http.StatusOK, map[string]any{"items": items, "count": len(items)})
}

func (m *message) item() map[string]any {
	return map[string]any{"id": m.id, "fromAgentId": m.from, "type": "question", "content": m.content,
		"createdAt": m.sent.UTC().Format(time.RFC3339)}
}

// Inbox returns the messages that were sent, the oldest first.
func (d *Daemon) Inbox() (texts []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.messages {
		texts = append(texts, m.from+": "+m.content)
	}
	return texts
}

// Acknowledged returns the keys under which a message was acknowledged.
func (d *Daemon) Acknowledged(id string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.messages {
		if m.id == id {
			return slices.Clone(m.acknowledged)
		}
	}
	return nil
}

// notify adds to a reply, and to its text, the messages that were not acknowledged. The caller holds d.mu.
func (d *Daemon) notify(m map[string]any, h hook) map[string]any {
	items, text := []any{}, "\n\n## Cross-agent notifications\n\nAcknowledge with agent_message_ack.\n"
	for _, n := range d.messages {
		if len(n.acknowledged) > 0 {
			continue
		}
		items = append(items, n.item())
		text += fmt.Sprintf("- [%s] from %s: %s\n", n.id, n.from, n.content)
	}
	if len(items) == 0 {
		return m
	}
	m["notifications"] = map[string]any{"items": items, "unreadCount": len(items), "hasMore": false}
	for _, field := range []string{"inject", "dynamicContext"} {
		said, _ := m[field].(string)
		m[field] = said + text
	}
	return m
}

func (d *Daemon) acknowledge(w http.ResponseWriter, r *http.Request) {
	var b struct{ SessionKey string }
	bad := json.NewDecoder(r.Body).Decode(&b) != nil
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.messages {
		if m.id == r.PathValue("id") && !bad {
			before := len(m.acknowledged) > 0
			m.acknowledged = append(m.acknowledged, b.SessionKey)
			reply(w, http.StatusOK, map[string]any{"messageId": m.id, "alreadyAcknowledged": before})
			return
		}
	}
	reply(w, http.StatusNotFound, map[string]any{"error": "Message not found"})
}
