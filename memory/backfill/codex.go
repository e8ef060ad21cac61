package backfill

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"
)

// codex is Codex: ~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl (seen: what codex-acp 2.6.0 writes). What was said
// stands in "event_msg" lines: as completed items, in older files as user_message and agent_message. Calls of tools are
// "response_item" lines.
var codex = format{
	agent: "codex",
	root:  func(p Place) string { return filepath.Join(p.env("CODEX_HOME", ".codex"), "sessions") },
	match: func(rel string) bool {
		return strings.HasPrefix(filepath.Base(rel), "rollout-") && strings.HasSuffix(rel, ".jsonl")
	},
	read: jsonLines(func(b *builder, line struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Payload   struct {
			Type    string `json:"type"`
			ID      string `json:"id"`
			Cwd     string `json:"cwd"`
			Message string `json:"message"`
			Name    string `json:"name"`
			// of calls: JSON in a string, or a patch
			Arguments json.RawMessage `json:"arguments"`
			Input     json.RawMessage `json:"input"`
			Item      struct {
				Type    string  `json:"type"`
				Content content `json:"content"`
			} `json:"item"`
		} `json:"payload"`
	}) {
		p := line.Payload
		switch {
		case line.Type == "session_meta" && b.ID == "":
			b.ID, b.Cwd = p.ID, p.Cwd
		case line.Type == "response_item" && (p.Type == "function_call" || p.Type == "custom_tool_call"):
			b.tool(toolCall(p.Name, cmp.Or(string(p.Arguments), string(p.Input))))
		case line.Type != "event_msg":
		case p.Type == "item_completed" && p.Item.Type == "UserMessage":
			b.user(p.Item.Content.join(), line.Timestamp)
		case p.Type == "item_completed" && p.Item.Type == "AgentMessage":
			b.assistant(p.Item.Content.join(), line.Timestamp)
		case p.Type == "user_message":
			b.user(p.Message, line.Timestamp)
		case p.Type == "agent_message":
			b.assistant(p.Message, line.Timestamp)
		}
	}),
}
