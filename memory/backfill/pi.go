package backfill

import (
	"cmp"
	"path/filepath"
	"strings"
	"time"
)

// pi is Pi: ~/.pi/agent/sessions/FOLDER/TIME_SESSION.jsonl (seen: what pi-acp 0.0.34 with pi-coding-agent 0.87.1
// writes).
var pi = format{
	agent: "pi",
	roots: func(p Place) []string {
		return []string{filepath.Join(p.env("PI_CODING_AGENT_DIR", ".pi", "agent"), "sessions")}
	},
	match: func(rel string) bool { return strings.HasSuffix(rel, ".jsonl") },
	read: jsonLines(func(b *builder, line struct {
		Type      string    `json:"type"`
		ID        string    `json:"id"`
		Cwd       string    `json:"cwd"`
		Timestamp time.Time `json:"timestamp"`
		Message   struct {
			Role    string  `json:"role"`
			Content content `json:"content"`
		} `json:"message"`
	}) {
		switch line.Type {
		case "session":
			b.ID, b.Cwd = cmp.Or(b.ID, line.ID), cmp.Or(b.Cwd, line.Cwd)
		case "compaction":
			b.note(summary)
		case "message":
			b.say(line.Message.Role, line.Message.Content, line.Timestamp)
		}
	}),
}
