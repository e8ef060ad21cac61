package backfill

import (
	"path/filepath"
	"strings"
	"time"
)

// claude is Claude Code: ~/.claude/projects/FOLDER/SESSION.jsonl (seen: 2.1.316). Lines of many types; "user" and
// "assistant" hold what was said, sidechains are subagents'. A branched conversation begins with a copy of what it was
// branched from, which is taken with that one where it is there.
var claude = format{
	agent: "claude",
	root:  func(p Place) string { return filepath.Join(p.env("CLAUDE_CONFIG_DIR", ".claude"), "projects") },
	is:    func(rel string) bool { return strings.Count(rel, "/") == 1 && strings.HasSuffix(rel, ".jsonl") },
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
		case b.stands(b.from):
		case line.Type == "user":
			b.user(line.Message.Content.join(), line.Timestamp)
		case line.Type == "assistant":
			b.assistant(line.Message.Content.join(), line.Timestamp)
		}
	}),
}
