package backfill

import (
	"cmp"
	"context"
	"path/filepath"
)

// crush is Crush: the SQLite database .crush/crush.db of each project (internal/db at b86336ac), which
// ~/.local/share/crush/projects.json lists. Sessions with a parent are subagents'.
var crush = format{
	agent: "crush",
	roots: func(p Place) (databases []string) {
		var list struct {
			Projects []struct {
				Path string `json:"path"`
				Data string `json:"data_dir"`
			} `json:"projects"`
		}
		_ = readJSON(p.data("crush", "projects.json"), &list) // what it does not say is not found
		for _, project := range list.Projects {
			data := cmp.Or(project.Data, ".crush")
			if !filepath.IsAbs(data) {
				data = filepath.Join(project.Path, data)
			}
			databases = append(databases, filepath.Join(data, "crush.db"))
		}
		return databases
	},
	match: func(rel string) bool { return rel == "." },
	read: func(ctx context.Context, p Place, path string, yield func(Conversation) error) error {
		folder := filepath.Dir(filepath.Dir(path))
		return database{
			sessions: `SELECT id, '', coalesce(parent_session_id, '') FROM sessions
				ORDER BY parent_session_id IS NOT NULL, created_at, id`,
			messages: `SELECT role, parts, created_at FROM messages WHERE session_id = ? ORDER BY created_at, rowid`,
		}.read(ctx, p, path, func(c Conversation) error { c.Cwd = folder; return yield(c) })
	},
}
