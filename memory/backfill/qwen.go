package backfill

import (
	"path/filepath"
	"strings"
)

// qwen is Qwen Code: ~/.qwen/projects/FOLDER/chats/SESSION.jsonl (seen: 0.24.4).
var qwen = format{
	agent: "qwen",
	roots: func(p Place) []string { return []string{filepath.Join(p.Home, ".qwen", "projects")} },
	match: func(rel string) bool { return strings.Contains(rel, "/chats/") && strings.HasSuffix(rel, ".jsonl") },
	read: jsonLines(func(b *builder, line struct {
		claudeHead
		Subtype string `json:"subtype"`
		Message struct {
			Parts content `json:"parts"`
		} `json:"message"`
	}) {
		if b.ID == "" {
			b.ID, b.Cwd = line.SessionID, line.Cwd
		}
		to := line.conversation(b)
		if line.Subtype == "chat_compression" {
			b.note(summary)
			return
		}
		to.say(line.Type, line.Message.Parts, line.Timestamp)
	}),
}
