package mcpserver

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A daemonInfo is what is known of a daemon that answers. It is not changed once it is made; nil stands for no daemon.
type daemonInfo struct {
	version string
	tools   []*mcp.Tool
	// direct: the memory tools are called by the daemon's HTTP API, because those of its MCP server would not reach it.
	direct bool
	// partial: the daemon answers, but its MCP server does not (yet), so these tools are our own.
	partial bool
	// guessed: this is what the daemon offered the last time. Its tools are shown, but not called before the daemon has
	// been asked.
	guessed bool
}

// shows reports whether both show the same tools.
func (l *daemonInfo) shows(other *daemonInfo) bool {
	a, err := json.Marshal(l.list())
	b, failed := json.Marshal(other.list())
	return err == nil && failed == nil && bytes.Equal(a, b)
}

// list returns the tools to show: the daemon's or, without one, our own.
func (l *daemonInfo) list() []*mcp.Tool {
	if l != nil {
		return l.tools
	}
	list := make([]*mcp.Tool, len(tools))
	for i, t := range tools {
		list[i] = t.describe()
	}
	return list
}

// schema returns the properties of a tool's arguments, and which of them are required.
func (l *daemonInfo) schema(name string) (properties map[string]any, required []string) {
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
