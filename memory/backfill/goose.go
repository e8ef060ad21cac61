package backfill

import (
	"context"
	"encoding/json"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// goose is Goose: since 1.10 the SQLite database sessions/sessions.db in its data folder (session_manager.rs at
// dbec1655), before it a file of JSON lines a session. What its scheduler and its subagents did says so in the type of
// the session, and of whom only in newer versions.
var goose = format{
	agent: "goose",
	roots: func(p Place) []string {
		data := p.data("goose")
		if runtime.GOOS == "windows" {
			data = filepath.Join(p.config(runtime.GOOS), "Block", "goose", "data")
		}
		if moved := p.env("GOOSE_PATH_ROOT"); moved != p.Home {
			data = filepath.Join(moved, "data")
		}
		return []string{filepath.Join(data, "sessions")}
	},
	match: func(rel string) bool { return rel == "sessions.db" || strings.HasSuffix(rel, ".jsonl") },
	read: func(ctx context.Context, p Place, path string, yield func(Conversation) error) error {
		if filepath.Ext(path) == ".jsonl" {
			return gooseLines(ctx, p, path, yield)
		}
		db, err := migrations.Look(path)
		if err != nil {
			return err
		}
		defer db.Close()
		column, err := columns(ctx, db, "sessions")
		if err != nil {
			return err
		}
		sessions, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (c Conversation, err error) {
			var kind string
			err = row.Scan(&c.ID, &c.Cwd, &c.Parent, &kind)
			if c.Parent == "" && (strings.Contains(kind, "agent") || kind == "scheduled") {
				c.Parent = nobody
			}
			return c, err
		}, `SELECT id, working_dir, `+column("parent_session_id")+`, `+column("session_type")+` FROM sessions
			ORDER BY `+column("parent_session_id")+` <> '', created_at, id`)
		for _, c := range sessions {
			if err == nil {
				err = eachMessage(ctx, db, c, yield, gooseMessage, `SELECT role, content_json, created_timestamp
					FROM messages WHERE session_id = ? ORDER BY created_timestamp, id`)
			}
		}
		return err
	},
}

func gooseMessage(b *builder, role string, data []byte, at time.Time) {
	var said content
	_ = json.Unmarshal(data, &said) // of a broken one nothing is taken
	b.say(role, said, at)
}

var gooseLines = jsonLines(func(b *builder, line struct {
	Folder  string  `json:"working_dir"`
	Role    string  `json:"role"`
	Content content `json:"content"`
	Created stamp   `json:"created"`
}) {
	if b.ID == "" {
		b.ID = strings.TrimSuffix(filepath.Base(b.File), ".jsonl")
	}
	if b.Cwd == "" {
		b.Cwd = line.Folder
	}
	b.say(line.Role, line.Content, line.Created.Time)
})
