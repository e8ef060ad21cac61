package backfill

import (
	"context"
	"database/sql"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// opencode is OpenCode: the SQLite database ~/.local/share/opencode/opencode.db (seen: 1.18.33), with tables of
// sessions, of messages and of their parts; the latter two hold JSON.
var opencode = format{
	agent: "opencode",
	root: func(p Place) string {
		return filepath.Join(p.env("XDG_DATA_HOME", ".local", "share"), "opencode", "opencode.db")
	},
	match: func(rel string) bool { return rel == "." }, // nothing else in that folder is looked at
	read: func(ctx context.Context, _ Place, path string, yield func(Conversation) error) error {
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
	},
}

// opencodeSessions gives the conversations that a person had; those with a parent are subagents'.
func opencodeSessions(ctx context.Context, db *sql.DB) (all []Conversation, err error) {
	rows, err := db.QueryContext(ctx, `SELECT id, directory FROM session WHERE parent_id IS NULL
		ORDER BY time_created, id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c Conversation
		if err := rows.Scan(&c.ID, &c.Cwd); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, rows.Err()
}

// opencodeTurns gives what was said in a conversation, a long one in parts.
func opencodeTurns(ctx context.Context, db *sql.DB, c Conversation, yield func(Conversation) error) error {
	rows, err := db.QueryContext(ctx, `SELECT m.id, m.data, p.data, p.time_created FROM message m
		JOIN part p ON p.message_id = m.id
		WHERE m.session_id = ? ORDER BY m.time_created, m.id, p.time_created, p.id`, c.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	b := builder{Conversation: c}
	var id, role string
	var words content
	var at time.Time
	end := func() {
		if text := words.join(); role == "user" {
			b.user(text, at)
		} else if role == "assistant" {
			b.assistant(text, at)
		}
		words = nil
	}
	for rows.Next() {
		var message, data, part string
		var created int64
		if err := rows.Scan(&message, &data, &part, &created); err != nil {
			return err
		}
		if message != id {
			end()
			if part, full := b.takePart(); full {
				if err := yield(part); err != nil {
					return err
				}
			}
			var m struct {
				Role string `json:"role"`
			}
			_ = json.Unmarshal([]byte(data), &m) // without a role nothing is taken of it
			id, role, at = message, m.Role, time.UnixMilli(created)
		}
		var p struct {
			Type      string `json:"type"`
			Text      string `json:"text"`
			Synthetic bool   `json:"synthetic"`
		}
		if json.Unmarshal([]byte(part), &p) == nil && p.Type == "text" && !p.Synthetic &&
			strings.TrimSpace(p.Text) != "" {
			words = append(words, piece{text: p.Text})
		}
	}
	end()
	if err := rows.Err(); err != nil {
		return err
	}
	return yield(b.Conversation)
}
