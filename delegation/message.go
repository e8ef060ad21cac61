package delegation

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/mcpserver"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A Message is what one agent has left for the next session of another in a project. Where a daemon runs, messages
// are the daemon's; then only the results of delegations are stored here too, under its ids.
type Message struct {
	ID        string    `json:"id"`
	To        string    `json:"to"`
	From      string    `json:"from"` // an agent; "": a person
	Session   string    `json:"session,omitempty"`
	Recipient string    `json:"-"` // the Signet key of the session that it is for; "": any session of To
	Project   string    `json:"project"`
	Created   time.Time `json:"created"`
	Text      string    `json:"message"`
	// Delegation is the one whose result it is, "" for none.
	Delegation string `json:"delegation,omitempty"`
}

const (
	maxMessage = 8 << 10 // bytes of a message
	maxUnread  = 20      // unread messages of one agent in one project
	// messagePrefix stands before a message's id among the ids of memories.
	messagePrefix = "message:"
)

// Send stores a message, under its ID where it has one elsewhere. Errors: nothing is left of the text, it is too long,
// the recipient has too many unread ones; the database's.
func (l *Ledger) Send(ctx context.Context, m Message) (Message, error) {
	if m.ID == "" {
		m.ID = ulid.Make().String()
	}
	m.Created, m.Text = l.now(), strings.TrimSpace(clean(m.Text))
	switch {
	case m.Text == "":
		return m, errors.New("nothing is left to send: private passages and secrets are not stored")
	case len(m.Text) > maxMessage:
		return m, fmt.Errorf("the message has %d bytes and %d fit: send what matters", len(m.Text), maxMessage)
	}
	unread, err := l.Inbox(ctx, []string{m.To}, m.Project)
	if err != nil {
		return m, err
	}
	if len(unread) >= maxUnread {
		return m, fmt.Errorf("%s has %d messages that it has not read: it must read them first", m.To, len(unread))
	}
	_, err = l.db.ExecContext(ctx, `INSERT INTO messages (id, agent, sender, session, project, created, message,
		recipient, delegation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, m.ID, m.To, m.From, m.Session, m.Project,
		sqlite.Stamp(m.Created), m.Text, m.Recipient, m.Delegation)
	return m, sqlite.While("leaving a message", err)
}

// Inbox returns the messages for an agent, by any of its names, that no session was told yet; the oldest first.
func (l *Ledger) Inbox(ctx context.Context, names []string, project string) ([]Message, error) {
	return l.unread(ctx, maxUnread, `AND agent IN (SELECT value FROM json_each(?1)) AND project = ?2`,
		sqlite.List(names), project)
}

// unread reads at most so many messages that no session was told yet, the oldest first.
func (l *Ledger) unread(ctx context.Context, most int, where string, args ...any) ([]Message, error) {
	all, err := sqlite.Collect(ctx, l.db, func(row sqlite.Row) (m Message, err error) {
		var created int64
		err = row.Scan(&m.ID, &m.To, &m.From, &m.Session, &m.Project, &created, &m.Text, &m.Recipient, &m.Delegation)
		m.Created = sqlite.Unstamp(created).UTC()
		return m, err
	}, `SELECT id, agent, sender, session, project, created, message, recipient, delegation FROM messages
		WHERE read = 0 `+where+` ORDER BY created, id`, args...)
	if err != nil {
		return nil, sqlite.While("reading messages", err)
	}
	unread := []Message{}
	for _, m := range all {
		if len(unread) == most {
			break
		}
		told, err := l.sessions.WasInserted(ctx, m.ID, m.Created)
		if err != nil {
			return nil, err
		}
		if !told {
			unread = append(unread, m)
		}
	}
	return unread, nil
}

// Waiting returns the messages for single sessions that were not told yet, by the keys of the sessions that are to be
// told with their next prompt: the recipient, and those that continue it.
func (l *Ledger) Waiting(ctx context.Context) (map[string][]Message, error) {
	all, err := l.unread(ctx, math.MaxInt, `AND recipient <> ''`)
	waiting := map[string][]Message{}
	for _, m := range all {
		keys, err := l.sessions.KeysOnwards(ctx, m.Recipient)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			waiting[key] = append(waiting[key], m)
		}
	}
	return waiting, err
}

// told notes that a delegation's result was given to who asked: no message tells it again.
func (l *Ledger) told(ctx context.Context, d Delegation) error {
	all, err := l.unread(ctx, math.MaxInt, `AND delegation = ?1`, d.ID)
	if err != nil || len(all) == 0 {
		return err
	}
	return l.markRead(ctx, all)
}

// ByMessage reports whether a delegation's result waits to be told by a message, or is one of the items that a session
// was told before.
func (l *Ledger) ByMessage(ctx context.Context, id string, told []string) (bool, error) {
	all, err := l.unread(ctx, 1, `AND delegation = ?1`, id)
	if err != nil || len(all) > 0 {
		return len(all) > 0, err
	}
	ids, err := sqlite.Collect(ctx, l.db, sqlite.One[string], `SELECT id FROM messages WHERE delegation = ?`, id)
	return slices.ContainsFunc(ids, func(m string) bool { return slices.Contains(told, messagePrefix+m) }), err
}

// markRead notes that messages were told.
func (l *Ledger) markRead(ctx context.Context, all []Message) error {
	return sqlite.Write(ctx, l.db, "noting that messages were read", func(tx *sql.Tx) error {
		for _, m := range all {
			if _, err := tx.ExecContext(ctx, `UPDATE messages SET read = ? WHERE id = ?`, sqlite.Stamp(l.now()),
				m.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// Item returns the message as a memory item, which it is told as: it is somebody else's words.
func (m Message) Item() memory.Item {
	from := "agent " + m.From
	if m.From == "" {
		from = "a person"
	}
	return memory.Item{ID: messagePrefix + m.ID, Text: "Message from " + from + ": " + m.Text, Origin: from,
		Date: m.Created}
}

// MessageTools are the tools by which agents leave messages for one another; a daemon's tools of the same names take
// their place. names returns those of a session's agent.
func MessageTools(service func(context.Context) (*Service, error),
	names func(memory.Session) []string) []mcpserver.Extra {
	m := messageTools{service, names}
	tools := []mcpserver.Extra{
		tool("agent_message_send", false, m.send, "Leave a message for another agent: its next session in this "+
			"project is told.",
			map[string]any{"to": text("the agent, such as codex"), "message": text("what it is to know")}, "to",
			"message"),
		tool("agent_message_inbox", false, m.inbox, "Read the messages that other agents have left for you.", nil),
	}
	for i := range tools {
		tools[i].Yields = true
	}
	return tools
}

type messageTools struct {
	service func(context.Context) (*Service, error)
	names   func(memory.Session) []string
}

func (m messageTools) send(ctx context.Context, who memory.Session, raw json.RawMessage) (any, error) {
	var given struct{ To, Message string }
	if json.Unmarshal(raw, &given) != nil || strings.TrimSpace(given.To) == "" ||
		strings.TrimSpace(given.Message) == "" {
		return nil, errors.New("agent_message_send takes to, the name of an agent, and message, a text")
	}
	service, err := m.service(ctx)
	if err != nil {
		return nil, err
	}
	known, err := service.Known(ctx)
	if err != nil {
		return nil, err
	}
	to := service.Canonical(given.To)
	if !slices.ContainsFunc(known, func(k KnownAgent) bool { return k.ID == to }) {
		return nil, fmt.Errorf("no agent is known as %q: agents_list names those that are", chars.Cut(to, 60))
	}
	from := ""
	if names := m.names(who); len(names) > 0 {
		from = names[0]
	}
	sent, err := service.Ledger.Send(ctx, Message{To: to, From: from, Session: who.Key, Project: who.Project,
		Text: given.Message})
	if err != nil {
		return nil, err
	}
	return map[string]any{"id": sent.ID, "status": "left for the next session of " + to + " in this project"}, nil
}

func (m messageTools) inbox(ctx context.Context, who memory.Session, _ json.RawMessage) (any, error) {
	service, err := m.service(ctx)
	if err != nil {
		return nil, err
	}
	all, err := service.Ledger.Inbox(ctx, m.names(who), who.Project)
	if err != nil {
		return nil, err
	}
	if err := service.Ledger.markRead(ctx, all); err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Text = privacy.Neutralise(all[i].Text)
	}
	return map[string]any{"messages": append([]Message{}, all...)}, nil
}
