package backfill

import (
	"cmp"
	"path/filepath"
	"strings"
	"time"
)

// claude is Claude Code: ~/.claude/projects/FOLDER/SESSION.jsonl (seen: 2.1.316). Lines are of many types: "user" and
// "assistant" hold what was said, "attachment" what the user said while the agent worked. Lines of sidechains are
// subagents'; newer versions write each subagent a file, SESSION/subagents/agent-ID.jsonl, or agent-ID.jsonl beside the
// session's. A branched conversation begins with a copy of the one it was branched from; the copy is passed over where
// the original's file is still there.
var claude = format{
	agent: "claude",
	roots: func(p Place) []string {
		return []string{filepath.Join(p.env("CLAUDE_CONFIG_DIR", ".claude"), "projects")}
	},
	match: func(rel string) bool {
		return strings.HasSuffix(rel, ".jsonl") && (strings.Count(rel, "/") == 1 ||
			strings.Contains(rel, "/subagents/") && ofClaudeSubagent(rel))
	},
	isChild: ofClaudeSubagent,
	read: jsonLines(func(b *builder, line struct {
		claudeHead
		IsMeta     bool `json:"isMeta"`
		IsSummary  bool `json:"isCompactSummary"`
		ForkedFrom struct {
			SessionID string `json:"sessionId"`
		} `json:"forkedFrom"`
		Message struct {
			Content content `json:"content"`
		} `json:"message"`
		Attachment struct {
			Type   string  `json:"type"`
			Prompt content `json:"prompt"`
		} `json:"attachment"`
	}) {
		if b.ID == "" {
			b.ID = line.SessionID
			if parent, _, is := strings.Cut(filepath.ToSlash(b.File), "/subagents/"); is {
				b.ID = filepath.Base(parent)
			}
		}
		b.Cwd = cmp.Or(b.Cwd, line.Cwd)
		b.from = line.ForkedFrom.SessionID
		to := line.conversation(b)
		switch {
		case line.IsMeta:
		case line.IsSummary:
			to.note(summary)
		case b.hasFile(b.from):
			b.leave(copied)
		case line.Type == "attachment" && line.Attachment.Type == "queued_command" && !line.IsSidechain:
			to.user(line.Attachment.Prompt.prompt(), line.Timestamp)
		default:
			to.say(line.Type, line.Message.Content, line.Timestamp)
		}
	}),
}

func ofClaudeSubagent(path string) bool { return strings.HasPrefix(filepath.Base(path), "agent-") }

// A claudeHead is what lines of Claude's have, and those of Qwen's.
type claudeHead struct {
	Type        string    `json:"type"`
	SessionID   string    `json:"sessionId"`
	AgentID     string    `json:"agentId"`
	ID          string    `json:"uuid"`
	Before      string    `json:"parentUuid"`
	Cwd         string    `json:"cwd"`
	Timestamp   time.Time `json:"timestamp"`
	IsSidechain bool      `json:"isSidechain"`
}

// conversation returns the one that a line is of: b, or a subagent's. Lines without the subagent's id follow one
// another, from one that follows none.
func (h claudeHead) conversation(b *builder) *builder {
	switch {
	case !h.IsSidechain || h.Type == "attachment":
		return b
	case h.AgentID != "":
		return b.child("agent-" + h.AgentID)
	}
	if b.chains == nil {
		b.chains = map[string]string{}
	}
	b.chains[h.ID] = cmp.Or(b.chains[h.Before], h.ID)
	return b.child(b.chains[h.ID])
}
