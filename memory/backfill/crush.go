package backfill

import (
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// crush is Crush: the SQLite database .crush/crush.db of each project (internal/db at b86336ac), which
// ~/.local/share/crush/projects.json lists. Sessions with a parent are subagents'.
var crush = format{
	agent: "crush",
	roots: func(p Place) []string {
		var list struct {
			Projects []struct {
				Path string `json:"path"`
				Data string `json:"data_dir"`
			} `json:"projects"`
		}
		if text, err := os.ReadFile(p.data("crush", "projects.json")); err == nil {
			_ = json.Unmarshal(text, &list) // what it does not say is not found
		}
		var databases []string
		for _, project := range list.Projects {
			databases = append(databases, filepath.Join(absolute(project.Data, project.Path), "crush.db"))
		}
		return databases
	},
	match: func(rel string) bool { return rel == "." },
	read: func(ctx context.Context, _ Place, path string, yield func(Conversation) error) error {
		db, err := migrations.Look(path)
		if err != nil {
			return err
		}
		defer db.Close()
		sessions, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (c Conversation, err error) {
			c.Cwd = filepath.Dir(filepath.Dir(path))
			return c, row.Scan(&c.ID, &c.Parent)
		}, `SELECT id, coalesce(parent_session_id, '') FROM sessions
			ORDER BY parent_session_id IS NOT NULL, created_at, id`)
		for _, c := range sessions {
			if err == nil {
				err = crushTurns(ctx, db, c, yield)
			}
		}
		return err
	},
}

// absolute returns a project's data folder.
func absolute(data, project string) string {
	switch {
	case data == "":
		return filepath.Join(project, ".crush")
	case filepath.IsAbs(data):
		return data
	}
	return filepath.Join(project, data)
}

func crushTurns(ctx context.Context, db *sql.DB, c Conversation, yield func(Conversation) error) error {
	return eachMessage(ctx, db, c, yield, func(b *builder, role string, data []byte, at time.Time) {
		var parts []struct {
			Type string `json:"type"`
			Data struct {
				Text  string          `json:"text"`
				Name  string          `json:"name"`
				Input json.RawMessage `json:"input"`
			} `json:"data"`
		}
		_ = json.Unmarshal(data, &parts) // of a broken one nothing is taken
		var said content
		for _, p := range parts {
			switch p.Type {
			case "text":
				said = append(said, piece{text: p.Data.Text})
			case "tool_call":
				call := toolCall(p.Data.Name, string(p.Data.Input))
				said = append(said, piece{call: &call})
			}
		}
		b.say(role, said, at)
	}, `SELECT role, parts, created_at FROM messages WHERE session_id = ? ORDER BY created_at, rowid`)
}
