package delegation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/Signet-AI/signet-acp-proxy/memory"
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
		return m, errors.New("nothing left to send: private passages and secrets are never saved")
	case len(m.Text) > maxMessage:
		return m, fmt.Errorf("the message has %d bytes, the maximum is %d: send what matters", len(m.Text), maxMessage)
	}
	unread, err := l.Inbox(ctx, []string{m.To}, m.Project)
	if err != nil {
		return m, err
	}
	if len(unread) >= maxUnread {
		return m, fmt.Errorf("%s has %d unread messages, which is the maximum", m.To, len(unread))
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
