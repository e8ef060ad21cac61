package mcpserver

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// An Extra is a tool beside those of the memory, which is there whether a daemon runs or not.
type Extra struct {
	Tool *mcp.Tool // as clients see it
	// Answer gives what is shown as JSON, or an error for the agent to read.
	Answer func(ctx context.Context, who memory.Session, arguments json.RawMessage) (any, error)
}

// withExtras is a list of tools with ours beside them; a daemon's of the same name goes.
func (s *service) withExtras(list []*mcp.Tool) []*mcp.Tool {
	if len(s.extras) == 0 {
		return list
	}
	list = slices.DeleteFunc(slices.Clone(list), func(t *mcp.Tool) bool { return s.extra(t.Name) != nil })
	for _, x := range s.extras {
		list = append(list, x.Tool)
	}
	return list
}

// extra finds one by its name, nil if there is none.
func (s *service) extra(name string) *Extra {
	i := slices.IndexFunc(s.extras, func(x Extra) bool { return x.Tool.Name == name })
	if i < 0 {
		return nil
	}
	return &s.extras[i]
}

// call answers a call of it.
func (x *Extra) call(ctx context.Context, who memory.Session, raw json.RawMessage) (*mcp.CallToolResult, error) {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	answer, err := x.Answer(ctx, who, raw)
	if err != nil {
		return failure(err), nil
	}
	return result(answer)
}
