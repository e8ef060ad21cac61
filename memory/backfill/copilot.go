package backfill

import (
	"path/filepath"
	"strings"
	"time"
)

// copilot is GitHub Copilot CLI: ~/.copilot/session-state/SESSION/events.jsonl (seen: 1.0.102).
var copilot = format{
	agent: "copilot",
	root:  func(p Place) string { return filepath.Join(p.env("COPILOT_HOME", ".copilot"), "session-state") },
	match: func(rel string) bool { return strings.Count(rel, "/") == 1 && strings.HasSuffix(rel, "/events.jsonl") },
	read: jsonLines(func(b *builder, line struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      struct {
			SessionID string  `json:"sessionId"`
			Content   content `json:"content"`
			Context   struct {
				Cwd string `json:"cwd"`
			} `json:"context"`
		} `json:"data"`
	}) {
		switch line.Type {
		case "session.start":
			if b.ID == "" {
				b.ID, b.Cwd = line.Data.SessionID, line.Data.Context.Cwd
			}
		case "user.message":
			b.user(line.Data.Content.join(), line.Timestamp)
		case "assistant.message":
			b.assistant(line.Data.Content.join(), line.Timestamp)
		}
	}),
}
