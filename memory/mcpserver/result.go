package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// result shows an answer as JSON text, as the daemon's tools do.
func result(answer any) (*mcp.CallToolResult, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(answer); err != nil {
		return nil, fmt.Errorf("writing the answer: %w", err)
	}
	return say(string(bytes.TrimSpace(b.Bytes()))), nil
}

func say(words string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: words}}}
}

// failure is an error that the agent sees and can do something about.
func failure(err error) *mcp.CallToolResult {
	r := say(err.Error())
	r.IsError = true
	return r
}
