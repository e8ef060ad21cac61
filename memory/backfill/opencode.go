package backfill

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// opencode is OpenCode: the SQLite database ~/.local/share/opencode/opencode.db (seen: 1.18.33), with tables of
// sessions, of messages and of their parts; the latter two hold JSON.
var opencode = format{
	agent: "opencode",
	roots: func(p Place) []string {
		return []string{p.data("opencode", "storage", "session"), p.data("opencode", "opencode.db")}
	},
	match:   func(rel string) bool { return rel == "." || isOpencodeFile(rel) },
	isChild: isOpencodeChild,
	read: func(ctx context.Context, _ Place, path string, yield func(Conversation) error) error {
		if isOpencodeFile(path) {
			return readOpencodeFile(ctx, path, yield)
		}
		return opencodeDatabase(ctx, path, yield)
	},
}

func opencodeDatabase(ctx context.Context, path string, yield func(Conversation) error) error {
	db, err := migrations.Look(path)
	if err != nil {
		return err
	}
	defer db.Close()
	sessions, err := opencodeSessions(ctx, db)
	if err != nil {
		return err
	}
	for _, c := range sessions {
		if err := opencodeTurns(ctx, db, c, yield); err != nil {
			return err
		}
	}
	return nil
}

// opencodeSessions returns the conversations; those with a parent are subagents', and come after it.
func opencodeSessions(ctx context.Context, db *sql.DB) (all []Conversation, err error) {
	rows, err := db.QueryContext(ctx, `SELECT id, directory, coalesce(parent_id, '') FROM session
		ORDER BY parent_id IS NOT NULL, time_created, id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c Conversation
		if err := rows.Scan(&c.ID, &c.Cwd, &c.Parent); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, rows.Err()
}

// opencodeTurns returns what was said in a conversation, a long one in parts.
func opencodeTurns(ctx context.Context, db *sql.DB, c Conversation, yield func(Conversation) error) error {
	rows, err := db.QueryContext(ctx, `SELECT m.id, m.data, p.data, p.time_created FROM message m
		JOIN part p ON p.message_id = m.id
		WHERE m.session_id = ? ORDER BY m.time_created, m.id, p.time_created, p.id`, c.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	b := builder{Conversation: c}
	var id string
	var m opencodeMessage
	for rows.Next() {
		var message, data, part string
		var created int64
		if err := rows.Scan(&message, &data, &part, &created); err != nil {
			return err
		}
		if message != id {
			m.end(&b)
			if part, full := b.takePart(); full {
				if err := yield(part); err != nil {
					return err
				}
			}
			id, m = message, opencodeMessage{at: time.UnixMilli(created)}
			_ = json.Unmarshal([]byte(data), &m) // without a role nothing is taken of it
		}
		m.add([]byte(part))
	}
	m.end(&b)
	if err := rows.Err(); err != nil {
		return err
	}
	return yield(b.Conversation)
}

// An opencodeMessage is a message, with what was said in its parts.
type opencodeMessage struct {
	Role    string          `json:"role"`
	Summary json.RawMessage `json:"summary"` // of an answer: true for a compaction's
	at      time.Time
	words   content
}

// add takes a part.
func (m *opencodeMessage) add(part []byte) {
	var p struct {
		Type      string `json:"type"`
		Text      string `json:"text"`
		Synthetic bool   `json:"synthetic"`
		Tool      string `json:"tool"`
		State     struct {
			Input json.RawMessage `json:"input"`
		} `json:"state"`
	}
	switch err := json.Unmarshal(part, &p); {
	case err != nil:
	case p.Type == "tool":
		call := toolCall(p.Tool, string(p.State.Input))
		m.words = append(m.words, piece{call: &call})
	case p.Type == "text" && !p.Synthetic && strings.TrimSpace(p.Text) != "":
		m.words = append(m.words, piece{text: p.Text})
	}
}

// end returns a message that is whole to the builder.
func (m *opencodeMessage) end(b *builder) {
	switch {
	case m.Role == "assistant" && string(m.Summary) == "true":
		b.note(summary)
	case m.Role == "assistant":
		b.answered(m.words, m.at)
	case m.Role == "user":
		b.user(m.words.join(), m.at)
	}
}
