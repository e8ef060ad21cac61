package backfill

import (
	"path/filepath"
	"strings"
	"time"
)

// claude is Claude Code: ~/.claude/projects/FOLDER/SESSION.jsonl (seen: 2.1.316). Lines are of many types: "user" and
// "assistant" hold what was said, and sidechains belong to subagents. A branched conversation begins with a copy of the
// one it was branched from; the copy is passed over where the original's file is still there.
var claude = format{
	agent: "claude",
	root:  func(p Place) string { return filepath.Join(p.env("CLAUDE_CONFIG_DIR", ".claude"), "projects") },
	match: func(rel string) bool { return strings.Count(rel, "/") == 1 && strings.HasSuffix(rel, ".jsonl") },
	read: jsonLines(func(b *builder, line struct {
		Type        string    `json:"type"`
		SessionID   string    `json:"sessionId"`
		Cwd         string    `json:"cwd"`
		Timestamp   time.Time `json:"timestamp"`
		IsSidechain bool      `json:"isSidechain"`
		IsMeta      bool      `json:"isMeta"`
		IsSummary   bool      `json:"isCompactSummary"`
		ForkedFrom  struct {
			SessionID string `json:"sessionId"`
		} `json:"forkedFrom"`
		Message struct {
			Content content `json:"content"`
		} `json:"message"`
	}) {
		if b.ID == "" {
			b.ID = line.SessionID
		}
		if b.Cwd == "" {
			b.Cwd = line.Cwd
		}
		b.from = line.ForkedFrom.SessionID
		switch {
		case line.IsSidechain || line.IsMeta || line.IsSummary:
		case b.hasFile(b.from):
		case line.Type == "user":
			b.user(line.Message.Content.join(), line.Timestamp)
		case line.Type == "assistant":
			b.answered(line.Message.Content, line.Timestamp)
		}
	}),
}
