package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A scope is what of a daemon's memories the tools of a session may see and change: those of its project, and those of
// none. A daemon keeps the memories of all projects together, and gives each to whoever knows its id.
type scope struct{ project string } // "": all memories

// includes reports whether a memory, as the daemon's JSON, is in the scope.
func (s scope) includes(row json.RawMessage) bool {
	var m struct{ Project string }
	return json.Unmarshal(row, &m) != nil || memory.Of(s.project, m.Project)
}

// lists are the fields of an answer that hold memories.
var lists = []string{"results", "memories"}

// filter removes from an answer the memories that are not in the scope. An answer without such a list stays as it came.
func (s scope) filter(r *mcp.CallToolResult) *mcp.CallToolResult {
	if s.project == "" || r == nil || r.IsError {
		return r
	}
	for _, c := range r.Content {
		if words, ok := c.(*mcp.TextContent); ok {
			words.Text = s.filterText(words.Text)
		}
	}
	if structured, err := json.Marshal(r.StructuredContent); err == nil && r.StructuredContent != nil {
		if kept := s.filterText(string(structured)); kept != string(structured) {
			r.StructuredContent = json.RawMessage(kept)
		}
	}
	return r
}

// filterText does so with an answer's JSON.
func (s scope) filterText(text string) string {
	var answer map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &answer) != nil {
		return text
	}
	dropped := false
	for _, name := range lists {
		var rows []json.RawMessage
		if json.Unmarshal(answer[name], &rows) != nil {
			continue
		}
		own := []json.RawMessage{}
		for _, row := range rows {
			if s.includes(row) {
				own = append(own, row)
			}
		}
		if len(own) == len(rows) {
			continue
		}
		dropped = true
		answer[name], _ = json.Marshal(own) // raw JSON always encodes
		if _, counted := answer["count"]; counted {
			answer["count"] = json.RawMessage(fmt.Sprint(len(own)))
		}
	}
	if !dropped {
		return text
	}
	kept, err := json.Marshal(answer)
	if err != nil {
		return text
	}
	return string(kept)
}

// maxRated is how many memories a call may rate: each is asked for before.
const maxRated = 50

// A rowOf asks the daemon for a memory by its id.
type rowOf func(ctx context.Context, id string) (json.RawMessage, error)

// allowed checks the ids among a call's arguments. It returns the arguments without ratings of memories outside the
// scope; refused tells the agent why the call is not made.
func (s scope) allowed(ctx context.Context, row rowOf, raw json.RawMessage,
	v values) (edited json.RawMessage, refused error) {
	if s.project == "" {
		return raw, nil
	}
	if id := v.text("id"); id != "" && !s.sees(ctx, row, id) {
		return nil, fmt.Errorf("no memory of this project has the id %q; memory_search has the ids", id)
	}
	ratings, _ := v["ratings"].(map[string]float64)
	if len(ratings) > maxRated {
		return nil, fmt.Errorf("at most %d memories can be rated at once", maxRated)
	}
	own := maps.Clone(ratings)
	maps.DeleteFunc(own, func(id string, _ float64) bool { return !s.sees(ctx, row, id) })
	if len(own) == len(ratings) {
		return raw, nil
	}
	if len(own) == 0 {
		return nil, errors.New("no memory of this project has any of these ids")
	}
	v["ratings"] = own
	return edit(raw, map[string]any{"ratings": own})
}

// sees reports whether the memory with an id is in the scope, as far as the daemon says.
func (s scope) sees(ctx context.Context, row rowOf, id string) bool {
	kept, err := row(ctx, id)
	return err != nil || s.includes(kept) // an id that does not exist the daemon refuses itself
}
