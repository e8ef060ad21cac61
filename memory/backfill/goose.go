package backfill

import (
	"cmp"
	"context"
	"path/filepath"
	"runtime"
	"strings"
)

// goose is Goose: since 1.10 the SQLite database sessions/sessions.db in its data folder (session_manager.rs at
// dbec1655, message.rs at 05132966), before it a file of JSON lines a session (legacy.rs at 0fc5e540). The type of a
// session says that a scheduler or another agent has started it, and only newer versions say which. A message that its
// user does not see is the summary of a compaction, or the order to go on after it.
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
		return database{
			sessions: `SELECT id, working_dir, iif({sessions.parent_session_id} = '' AND {sessions.session_type} IN
				('sub_agent', 'specialist', 'hidden', 'scheduled'), '` + nobody + `', {sessions.parent_session_id})
				FROM sessions ORDER BY {sessions.parent_session_id} <> '', created_at, id`,
			messages: `SELECT iif(instr({messages.metadata_json}, '"userVisible":false'), 'compaction', role),
				content_json, created_timestamp FROM messages WHERE session_id = ? ORDER BY created_timestamp, id`,
		}.read(ctx, p, path, yield)
	},
}

var gooseLines = jsonLines(func(b *builder, line struct {
	Folder  string  `json:"working_dir"`
	Role    string  `json:"role"`
	Content content `json:"content"`
	Created stamp   `json:"created"`
}) {
	b.ID, b.Cwd = strings.TrimSuffix(filepath.Base(b.File), ".jsonl"), cmp.Or(b.Cwd, line.Folder)
	b.say(line.Role, line.Content, line.Created.Time)
})
