package backfill

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// gemini is Gemini CLI: ~/.gemini/tmp/PROJECT/chats/session-….jsonl (seen: 0.61.0), with a head, messages, and "$set"
// lines that replace all messages before them; older versions wrote one JSON object, session-….json. PROJECT is a name
// that ~/.gemini/projects.json maps to a folder.
var gemini = format{
	agent: "gemini",
	root:  func(p Place) string { return filepath.Join(p.Home, ".gemini", "tmp") },
	match: func(rel string) bool {
		return strings.Contains(rel, "/chats/session-") && (strings.HasSuffix(rel, ".jsonl") ||
			strings.HasSuffix(rel, ".json"))
	},
	read: func(ctx context.Context, p Place, path string, yield func(Conversation) error) error {
		var head struct {
			SessionID string `json:"sessionId"`
		}
		var messages []geminiMessage
		size := 0
		add := func(line []byte) error {
			var v struct {
				SessionID string          `json:"sessionId"`
				Messages  []geminiMessage `json:"messages"`
				Set       struct {
					Messages []geminiMessage `json:"messages"`
				} `json:"$set"`
				geminiMessage
			}
			err := json.Unmarshal(line, &v)
			switch {
			case err != nil:
				return lineError(err)
			case v.SessionID != "":
				head.SessionID = v.SessionID
				messages = append(messages[:0], v.Messages...)
			case v.Set.Messages != nil:
				messages = append(messages[:0], v.Set.Messages...)
			case v.Type != "":
				messages = append(messages, v.geminiMessage)
				size += v.size()
			}
			if v.SessionID != "" || v.Set.Messages != nil {
				size = 0
				for _, m := range messages {
					size += m.size()
				}
			}
			if size > maxThread {
				return errTooLarge
			}
			return nil
		}
		odd := eachLine(ctx, path, add)
		if odd != nil && !isBadLines(odd) {
			return odd
		}
		if head.SessionID == "" { // one object over many lines
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if info.Size() > maxLine {
				return errTooLarge
			}
			whole, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			odd = add(whole)
		}
		b := builder{Conversation: Conversation{ID: head.SessionID, Cwd: geminiFolder(p, path)}}
		for _, m := range messages {
			switch m.Type {
			case "user":
				b.user(m.Content.join(), m.Timestamp)
			case "gemini":
				b.assistant(m.Content.join(), m.Timestamp)
			}
		}
		return cmp.Or(yield(b.Conversation), odd)
	},
}

type geminiMessage struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Content   content   `json:"content"`
}

// size is how many bytes of text it holds.
func (m geminiMessage) size() (n int) {
	for _, p := range m.Content {
		n += len(p.text)
	}
	return n
}

// geminiFolder gives the working directory of a conversation, which Gemini keeps in projects.json; "" where it is not
// known.
func geminiFolder(p Place, path string) string {
	text, err := os.ReadFile(filepath.Join(p.Home, ".gemini", "projects.json"))
	if err != nil {
		return ""
	}
	var known struct {
		Projects map[string]string `json:"projects"`
	}
	if json.Unmarshal(text, &known) != nil {
		return ""
	}
	name := filepath.Base(filepath.Dir(filepath.Dir(path)))
	for folder, project := range known.Projects {
		if project == name {
			return folder
		}
	}
	return ""
}
