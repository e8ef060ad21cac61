package backfill

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
)

// Copilot's chat in VS Code stands in workspaceStorage/WINDOW/chatSessions/SESSION.jsonl, and of windows without a
// folder in globalStorage/emptyWindowChatSessions: a log of changes to one object (objectMutationLog.ts at 047238f9);
// before 1.109 the object itself, SESSION.json. What the editor asks by itself is marked in it.

type copilotChat struct {
	ID       string `json:"sessionId"`
	Requests []struct {
		At      stamp `json:"timestamp"`
		Message struct {
			Text string `json:"text"`
		} `json:"message"`
		BySystem     bool   `json:"isSystemInitiated"`
		Confirmation string `json:"confirmation"`
		IsCanceled   bool   `json:"isCanceled"`
		Response     []copilotPart
	} `json:"requests"`
}

// A copilotPart is a part of an answer: a text, a tool that was called, or an edit.
type copilotPart struct {
	Kind  string `json:"kind"`
	Value string `json:"value"` // of other kinds something else
	Tool  string `json:"toolId"`
	Data  struct {
		Command struct {
			Original string `json:"original"`
		} `json:"commandLine"`
	} `json:"toolSpecificData"`
	URI struct {
		Path string `json:"path"`
	} `json:"uri"`
	Content struct {
		Value string `json:"value"`
	} `json:"content"`
}

func readCopilotChat(ctx context.Context, path string, yield func(Conversation) error) error {
	read := readWhole
	if filepath.Ext(path) == ".jsonl" {
		read = func(path string) ([]byte, error) { return replayed(ctx, path) }
	}
	text, err := read(path)
	if err != nil {
		return err
	}
	var chat copilotChat
	if !decode(text, &chat) {
		return errNotJSON
	}
	window := filepath.Dir(filepath.Dir(path))
	b := builder{Conversation: Conversation{ID: chat.ID, Cwd: workspaceFolder(window)}, yield: yield}
	for _, r := range chat.Requests {
		if r.BySystem || r.Confirmation != "" {
			b.note(instruction)
		} else {
			b.user(r.Message.Text, r.At.Time)
		}
		for _, part := range r.Response {
			switch part.Kind {
			case "", "markdownContent", "markdownVuln":
				b.assistant(part.Value+part.Content.Value, r.At.Time)
			case "toolInvocationSerialized":
				b.tool(newTool(part.Tool, part.Data.Command.Original))
			case "textEditGroup":
				b.tool(newTool("edit", "", part.URI.Path))
			}
		}
		if r.IsCanceled {
			b.note(interruption)
		}
	}
	return b.end()
}

var errNoLog = errors.New("its log of changes is broken")

// replayed returns the object that a log of changes ends with, as JSON.
func replayed(ctx context.Context, path string) ([]byte, error) {
	var state any
	size := 0
	err := eachLine(ctx, path, func(line []byte) error {
		if size += len(line); size > maxThread {
			return errTooLarge
		}
		var change struct {
			Kind int             `json:"kind"`
			Path []any           `json:"k"`
			V    json.RawMessage `json:"v"`
			From *int            `json:"i"`
		}
		var value any
		if json.Unmarshal(line, &change) != nil || len(change.V) > 0 && json.Unmarshal(change.V, &value) != nil {
			return errNotJSON
		}
		if change.Kind == 0 {
			state = value
			return nil
		}
		set := func(any) (any, bool) { return value, true }
		if change.Kind == 2 {
			set = func(have any) (any, bool) { return pushed(have, value, change.From) }
		}
		var ok bool
		if state, ok = changed(state, change.Path, set); !ok {
			return errNoLog
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(state)
}

// changed returns a value with what stands at a path in it changed. ok is false where there is no such path.
func changed(value any, path []any, change func(any) (any, bool)) (_ any, ok bool) {
	if len(path) == 0 {
		return change(value)
	}
	switch v := value.(type) {
	case map[string]any:
		if key, is := path[0].(string); is {
			v[key], ok = changed(v[key], path[1:], change)
		}
	case []any:
		if n, is := path[0].(float64); is && n >= 0 && int(n) < len(v) {
			v[int(n)], ok = changed(v[int(n)], path[1:], change)
		}
	}
	return value, ok
}

// pushed returns a list with values appended, after what stands from a place on was removed.
func pushed(have, values any, from *int) (any, bool) {
	list, _ := have.([]any)
	more, _ := values.([]any)
	if from != nil {
		if *from < 0 || *from > len(list) {
			return nil, false
		}
		list = list[:*from]
	}
	return append(list, more...), true
}
