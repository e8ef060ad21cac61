package acpclient

import (
	"encoding/json"

	acp "github.com/coder/acp-go-sdk"
)

// An Update is one session/update: Kind says which of the fields it has.
type Update struct {
	Kind    string `json:"sessionUpdate"`
	Message string `json:"messageId"`
	ToolCall
	Used *int64 `json:"used"` // tokens of the context
	Cost *struct {
		Amount   float64 `json:"amount"`
		Currency string  `json:"currency"`
	} `json:"cost"`
	Commands []struct {
		Name string `json:"name"`
	} `json:"availableCommands"`
}

// Content is the text block of a message, or the content of a tool call; it is empty for anything else.
type Content struct {
	Text  string
	Diffs []string // paths of files that are shown as changed
}

// UnmarshalJSON accepts a block or a tool call's list.
func (c *Content) UnmarshalJSON(text []byte) error {
	var block struct{ Text string }
	if json.Unmarshal(text, &block) == nil {
		c.Text = block.Text
		return nil
	}
	var list []struct {
		Type, Path string
	}
	if json.Unmarshal(text, &list) == nil {
		for _, one := range list {
			if one.Type == "diff" && one.Path != "" {
				c.Diffs = append(c.Diffs, one.Path)
			}
		}
	}
	return nil
}

// A ToolCall is a call of a tool, as far as the agent has described it.
type ToolCall struct {
	ID        string       `json:"toolCallId"`
	Title     string       `json:"title"`
	ToolKind  acp.ToolKind `json:"kind"`
	Name      string       `json:"name"`
	Status    string       `json:"status"`
	Locations []struct {
		Path string `json:"path"`
	} `json:"locations"`
	Input json.RawMessage `json:"rawInput"`
	Meta  struct {
		Claude struct {
			Tool string `json:"toolName"`
		} `json:"claudeCode"`
	} `json:"_meta"`
	Content Content `json:"content"`
}

// A permission is a request for permission.
type permission struct {
	ToolCall ToolCall `json:"toolCall"`
	Options  []struct {
		ID   acp.PermissionOptionId   `json:"optionId"`
		Kind acp.PermissionOptionKind `json:"kind"`
	} `json:"options"`
}

// answer chooses the narrowest option that allows or refuses. Where there is none, the request counts as cancelled.
func (p permission) answer(allowed bool) acp.RequestPermissionResponse {
	kinds := []acp.PermissionOptionKind{acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways}
	if allowed {
		// never allow_always, which would be kept in the person's own settings
		kinds = []acp.PermissionOptionKind{acp.PermissionOptionKindAllowOnce}
	}
	for _, kind := range kinds {
		for _, o := range p.Options {
			if o.Kind == kind {
				return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(o.ID)}
			}
		}
	}
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}
}
