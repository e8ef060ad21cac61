package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A scope is what of a daemon's memories the tools of a session may see and change: those of its project, and those
// of none. A daemon keeps all of a person's in one, and gives each to whoever knows its id.
type scope struct{ project string } // "": all

// within reports whether a memory is in it, by the daemon's row.
func (s scope) within(row json.RawMessage) bool {
	var m struct{ Project string }
	if s.project == "" || json.Unmarshal(row, &m) != nil || m.Project == "" {
		return true
	}
	return m.Project == s.project || strings.HasPrefix(m.Project, strings.TrimSuffix(s.project, "/")+"/")
}

// lists are what the rows of an answer stand under.
var lists = []string{"results", "memories"}

// keep takes the rows out of an answer that are not in the scope. What is no such list stays as it came.
func (s scope) keep(r *mcp.CallToolResult) *mcp.CallToolResult {
	if s.project == "" || r == nil || r.IsError {
		return r
	}
	for _, c := range r.Content {
		if words, ok := c.(*mcp.TextContent); ok {
			words.Text = s.kept(words.Text)
		}
	}
	if structured, err := json.Marshal(r.StructuredContent); err == nil && r.StructuredContent != nil {
		if kept := s.kept(string(structured)); kept != string(structured) {
			r.StructuredContent = json.RawMessage(kept)
		}
	}
	return r
}

func (s scope) kept(text string) string {
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
			if s.within(row) {
				own = append(own, row)
			}
		}
		if len(own) == len(rows) {
			continue
		}
		dropped = true
		answer[name], _ = json.Marshal(own) // which were read as JSON
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

// mostRated is how many memories a call may rate: each is looked at before.
const mostRated = 50

// A rowOf asks the daemon for a memory by its id.
type rowOf func(ctx context.Context, id string) (json.RawMessage, error)

// held gives a call's arguments without ratings of what is not in the scope. refused says to the agent why nothing is
// done.
func (s scope) held(ctx context.Context, row rowOf, raw json.RawMessage,
	v values) (edited json.RawMessage, refused error) {
	if s.project == "" {
		return raw, nil
	}
	if id := v.text("id"); id != "" && !s.sees(ctx, row, id) {
		return nil, fmt.Errorf("no memory of this project has the id %q; memory_search gives ids", id)
	}
	ratings, _ := v["ratings"].(map[string]float64)
	if len(ratings) > mostRated {
		return nil, fmt.Errorf("at most %d memories can be rated at once", mostRated)
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
	fields := map[string]any{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	fields["ratings"] = own
	return json.Marshal(fields)
}

// sees reports whether a memory is in the scope, as far as the daemon says.
func (s scope) sees(ctx context.Context, row rowOf, id string) bool {
	kept, err := row(ctx, id)
	return err != nil || s.within(kept) // what is not there the daemon refuses itself
}
