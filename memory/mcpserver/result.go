package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// result returns an answer as a result of JSON text, as the daemon's tools do.
func result(answer any) (*mcp.CallToolResult, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(answer); err != nil {
		return nil, fmt.Errorf("writing the answer: %w", err)
	}
	return textResult(string(bytes.TrimSpace(b.Bytes()))), nil
}

func textResult(words string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: words}}}
}

// failure returns a result that tells the agent of an error.
func failure(err error) *mcp.CallToolResult {
	r := textResult(err.Error())
	r.IsError = true
	return r
}
