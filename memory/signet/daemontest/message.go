package daemontest

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Send leaves a message of another agent for every session, and returns its id. The newer kind adds it to its replies
// until it is acknowledged; the others have it in the inbox alone.
func (d *Daemon) Send(from, content string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.send(from, content)
}

func (d *Daemon) send(from, content string) string {
	m := &message{id: d.id("msg"), from: from, content: content, sent: d.opts.Now()}
	d.messages = append(d.messages, m)
	return m.id
}

func (d *Daemon) sendMessage(_ *http.Request, b body) (int, fields) {
	if b.Content == nil || b.ToSessionKey == "" {
		return refuse(http.StatusBadRequest, "local target required")
	}
	return http.StatusOK, fields{"message": fields{"id": d.send(b.FromAgentID, *b.Content)}}
}

// listMessages is the inbox, as its source reads. Only the newer kind knows what was acknowledged.
func (d *Daemon) listMessages(r *http.Request, _ body) (int, fields) {
	items := []any{}
	for _, m := range d.messages {
		if len(m.acknowledged) == 0 || r.FormValue("unread_only") == "" {
			items = append(items, m.item())
		}
	}
	return http.StatusOK, fields{"items": items, "count": len(items)}
}

func (m *message) item() fields {
	return fields{"id": m.id, "fromAgentId": m.from, "type": "question", "content": m.content,
		"createdAt": m.sent.UTC().Format(time.RFC3339)}
}

// Inbox returns the messages that were sent, the oldest first.
func (d *Daemon) Inbox() (texts []string) {
	for _, m := range copyOf(d, &d.messages) {
		texts = append(texts, m.from+": "+m.content)
	}
	return texts
}

// Acknowledged returns the keys under which a message was acknowledged.
func (d *Daemon) Acknowledged(id string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if m := d.message(id); m != nil {
		return slices.Clone(m.acknowledged)
	}
	return nil
}

func (d *Daemon) message(id string) *message {
	if i := slices.IndexFunc(d.messages, func(m *message) bool { return m.id == id }); i >= 0 {
		return d.messages[i]
	}
	return nil
}

// notify adds to a reply, and to its text, the messages that were not acknowledged.
func (d *Daemon) notify(said fields) fields {
	items, text := []any{}, "\n\n## Cross-agent notifications\n\nAcknowledge with agent_message_ack.\n"
	for _, m := range d.messages {
		if len(m.acknowledged) == 0 {
			items = append(items, m.item())
			text += fmt.Sprintf("- [%s] from %s: %s\n", m.id, m.from, m.content)
		}
	}
	if len(items) == 0 {
		return said
	}
	said["notifications"] = fields{"items": items, "unreadCount": len(items), "hasMore": false}
	for _, field := range []string{"inject", "dynamicContext"} {
		before, _ := said[field].(string)
		said[field] = before + text
	}
	return said
}

func (d *Daemon) acknowledge(r *http.Request, b body) (int, fields) {
	m := d.message(r.PathValue("id"))
	if m == nil {
		return refuse(http.StatusNotFound, "Message not found")
	}
	before := len(m.acknowledged) > 0
	m.acknowledged = append(m.acknowledged, b.SessionKey)
	return http.StatusOK, fields{"messageId": m.id, "alreadyAcknowledged": before}
}
