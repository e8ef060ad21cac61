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
// "response_item" lines. A subagent has a file of its own, whose first line names the thread that started it
// (SubAgentSource in codex-rs/protocol); those that Codex starts by itself, for a review or a compaction, name none.
var codex = format{
	agent: "codex",
	roots: func(p Place) []string { return []string{filepath.Join(p.env("CODEX_HOME", ".codex"), "sessions")} },
	match: func(rel string) bool {
		return strings.HasPrefix(filepath.Base(rel), "rollout-") && strings.HasSuffix(rel, ".jsonl")
	},
	read: jsonLines(func(b *builder, line struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Payload   struct {
			Type   string `json:"type"`
			ID     string `json:"id"`
			Cwd    string `json:"cwd"`
			Source struct {
				Subagent json.RawMessage `json:"subagent"`
			} `json:"source"` // of the user's conversations a word
			Message string          `json:"message"`
			call                    // its arguments are JSON in a string, or a patch
			CallID  string          `json:"call_id"`
			Output  json.RawMessage `json:"output"`
			Item    struct {
				Type    string  `json:"type"`
				Content content `json:"content"`
			} `json:"item"`
		} `json:"payload"`
	}) {
		p := line.Payload
		switch {
		case line.Type == "session_meta" && b.ID == "":
			b.ID, b.Cwd, b.Parent = p.ID, p.Cwd, codexParent(p.Source.Subagent)
		case line.Type == "compacted", line.Type == "event_msg" && p.Type == "context_compacted":
			b.note(summary)
		case line.Type == "response_item" && (p.Type == "function_call" || p.Type == "custom_tool_call"):
			b.tool(p.tool())
			b.called(p.CallID)
		case line.Type == "response_item" && p.Type == "function_call_output":
			b.ended(p.CallID, string(p.Output), false)
		case line.Type != "event_msg":
		case p.Type == "turn_aborted":
			b.note(interruption)
		case p.Type == "item_completed" && p.Item.Type == "UserMessage":
			b.user(p.Item.Content.prompt(), line.Timestamp)
		case p.Type == "item_completed" && p.Item.Type == "AgentMessage":
			b.assistant(p.Item.Content.join(), line.Timestamp)
		case p.Type == "user_message":
			b.user(p.Message, line.Timestamp)
		case p.Type == "agent_message":
			b.assistant(p.Message, line.Timestamp)
		}
	}),
}

// codexParent returns who started a subagent, by what is said of it: an object, or a word where nobody has.
func codexParent(subagent json.RawMessage) string {
	if subagent == nil {
		return ""
	}
	var spawn struct {
		Thread struct {
			Parent string `json:"parent_thread_id"`
		} `json:"thread_spawn"`
	}
	decode(subagent, &spawn)
	return cmp.Or(spawn.Thread.Parent, nobody)
}
