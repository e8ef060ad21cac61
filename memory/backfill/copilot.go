package backfill

import (
	"context"
	"path/filepath"
	"strings"
	"time"
)

// copilot is GitHub Copilot CLI: ~/.copilot/session-state/SESSION/events.jsonl (seen: 1.0.102). Events with a
// parentToolCallId are of a subagent that this call has started.
var copilot = format{
	agent: "copilot",
	roots: func(p Place) []string {
		roots := []string{filepath.Join(p.env("COPILOT_HOME", ".copilot"), "session-state")}
		for _, editor := range []string{"Code", "Code - Insiders", "VSCodium"} {
			roots = append(roots, p.editor(editor, "globalStorage", "emptyWindowChatSessions"))
			windows := filepath.Join(globEscape(p.editor(editor, "workspaceStorage")), "*", "chatSessions")
			if chats, err := filepath.Glob(windows); err == nil {
				roots = append(roots, chats...)
			}
		}
		return roots
	},
	match: func(rel string) bool {
		return strings.Count(rel, "/") == 1 && strings.HasSuffix(rel, "/events.jsonl") ||
			!strings.Contains(rel, "/") && (strings.HasSuffix(rel, ".jsonl") || strings.HasSuffix(rel, ".json"))
	},
	read: func(ctx context.Context, p Place, path string, yield func(Conversation) error) error {
		switch filepath.Base(filepath.Dir(path)) {
		case "chatSessions", "emptyWindowChatSessions":
			return readCopilotChat(ctx, path, yield)
		}
		return readCopilot(ctx, p, path, yield)
	},
}

var readCopilot = jsonLines(func(b *builder, line struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      struct {
		SessionID string  `json:"sessionId"`
		Content   content `json:"content"`
		Caller    string  `json:"parentToolCallId"`
		call
		Source  string `json:"source"`
		Context struct {
			Cwd string `json:"cwd"`
		} `json:"context"`
	} `json:"data"`
}) {
	to := b
	if line.Data.Caller != "" {
		to = b.child(line.Data.Caller)
	}
	switch line.Type {
	case "session.start":
		if b.ID == "" {
			b.ID, b.Cwd = line.Data.SessionID, line.Data.Context.Cwd
		}
	case "session.compaction_complete":
		b.note(summary)
	case "abort":
		b.note(interruption)
	case "user.message":
		if line.Data.Source != "" && line.Data.Source != "user" {
			to.note(instruction)
			return
		}
		to.user(line.Data.Content.prompt(), line.Timestamp)
	case "assistant.message":
		to.assistant(line.Data.Content.join(), line.Timestamp)
	case "tool.execution_start":
		to.tool(line.Data.tool())
	}
})
