package backfill

import (
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
	read: jsonFile(func(b *builder, session struct {
		ID      string `json:"sessionId"`
		Folder  string `json:"workspaceDirectory"`
		History []struct {
			Message struct {
				Role    string  `json:"role"`
				Content content `json:"content"`
				Calls   []struct {
					Function call `json:"function"`
				} `json:"toolCalls"`
			} `json:"message"`
		} `json:"history"`
	}) {
		b.ID, b.Cwd = session.ID, session.Folder
		if strings.HasPrefix(b.Cwd, "file:") {
			b.Cwd = pathOf(b.Cwd)
		}
		at := continueDate(b.File, session.ID)
		for i, item := range session.History {
			at := at.Add(time.Duration(i) * time.Second) // keeps their order
			b.say(item.Message.Role, item.Message.Content, at)
			for _, call := range item.Message.Calls {
				b.tool(call.Function.tool())
			}
		}
	}),
}

// continueDate returns when a session began, or else when its file was written last.
func continueDate(path, id string) time.Time {
	var all []struct {
		ID      string `json:"sessionId"`
		Created stamp  `json:"dateCreated"`
	}
	_ = readJSON(filepath.Join(filepath.Dir(path), "sessions.json"), &all) // without it there are no dates
	for _, one := range all {
		if one.ID == id && !one.Created.IsZero() {
			return one.Created.Time
		}
	}
	return modified(path)
}
