package backfill

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// continuedev is Continue: ~/.continue/sessions/SESSION.json, and sessions.json beside them, which has their dates
// (core/util/history.ts at 0808cf63). Turns have no time of their own.
var continuedev = format{
	agent: "continue",
	roots: func(p Place) []string {
		return []string{filepath.Join(p.env("CONTINUE_GLOBAL_DIR", ".continue"), "sessions")}
	},
	match: func(rel string) bool {
		return strings.HasSuffix(rel, ".json") && rel != "sessions.json" && !strings.Contains(rel, "/")
	},
	read: func(_ context.Context, _ Place, path string, yield func(Conversation) error) error {
		var session struct {
			ID      string `json:"sessionId"`
			Folder  string `json:"workspaceDirectory"`
			History []struct {
				Message struct {
					Role    string  `json:"role"`
					Content content `json:"content"`
					Calls   []struct {
						Function struct {
							Name      string          `json:"name"`
							Arguments json.RawMessage `json:"arguments"`
						} `json:"function"`
					} `json:"toolCalls"`
				} `json:"message"`
			} `json:"history"`
		}
		if err := readJSON(path, &session); err != nil {
			return err
		}
		at, err := continueDate(path, session.ID)
		if err != nil {
			return err
		}
		b := builder{Conversation: Conversation{ID: session.ID}}
		if b.Cwd = session.Folder; strings.HasPrefix(b.Cwd, "file:") {
			b.Cwd = pathOf(b.Cwd)
		}
		for i, item := range session.History {
			at := at.Add(time.Duration(i) * time.Second) // keeps their order
			b.say(item.Message.Role, item.Message.Content, at)
			for _, call := range item.Message.Calls {
				b.tool(toolCall(call.Function.Name, string(call.Function.Arguments)))
			}
		}
		return yield(b.Conversation)
	},
}

// continueDate returns when a session began, or else when its file was written last.
func continueDate(path, id string) (time.Time, error) {
	var all []struct {
		ID      string `json:"sessionId"`
		Created stamp  `json:"dateCreated"`
	}
	if text, err := readWhole(filepath.Join(filepath.Dir(path), "sessions.json")); err == nil {
		_ = json.Unmarshal(text, &all) // without it there are no dates
	}
	for _, one := range all {
		if one.ID == id && !one.Created.IsZero() {
			return one.Created.Time, nil
		}
	}
	return modified(path)
}

// modified returns when a file was written last.
func modified(path string) (time.Time, error) {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}
