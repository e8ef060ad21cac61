package mcpserver

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A link is a daemon that answers. It does not change.
type link struct {
	version string
	tools   []*mcp.Tool
	// direct: the memory tools go to the daemon's HTTP API, for those of its /mcp would not reach it.
	direct bool
	// partial: the daemon answers, its MCP server does not (yet), so these tools are ours.
	partial bool
	// guessed: so it was the last time that this daemon was there. What is shown by it is not called before the daemon
	// has been asked.
	guessed bool
}

// shows reports whether two links show the same tools.
func (l *link) shows(other *link) bool {
	a, err := json.Marshal(l.list())
	b, failed := json.Marshal(other.list())
	return err == nil && failed == nil && bytes.Equal(a, b)
}

// list gives the tools to show: the daemon's, and with no daemon our own.
func (l *link) list() []*mcp.Tool {
	if l != nil {
		return l.tools
	}
	list := make([]*mcp.Tool, len(tools))
	for i, t := range tools {
		list[i] = t.describe()
	}
	return list
}

// schema gives the properties of a tool's arguments, and which of them are required.
func (l *link) schema(name string) (properties map[string]any, required []string) {
	for _, t := range l.tools {
		schema, ok := t.InputSchema.(map[string]any)
		if t.Name != name || !ok {
			continue
		}
		properties, _ = schema["properties"].(map[string]any)
		all, _ := schema["required"].([]any)
		for _, r := range all {
			if field, ok := r.(string); ok {
				required = append(required, field)
			}
		}
	}
	return properties, required
}
