package backfill

import (
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
		switch {
		case line.Type == "session" && b.ID == "":
			b.ID, b.Cwd = line.ID, line.Cwd
		case line.Type == "compaction":
			b.note(summary)
		case line.Type != "message":
		case line.Message.Role == "user":
			b.user(line.Message.Content.join(), line.Timestamp)
		case line.Message.Role == "assistant":
			b.answered(line.Message.Content, line.Timestamp)
		}
	}),
}
