package mcpserver

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Rights are what the memory tools of a server may do. What it has not the right to do it neither lists nor answers,
// the daemon's other tools among it.
type Rights int

// The rights.
const (
	AllRights Rights = iota
	ReadRights
	NoteRights // to read, and to store memories that are marked as a child's
)

// childMark is a tag of what a delegation's child stores: a daemon does not know who said it.
const childMark = string(memory.Child)

// of keeps the tools that a server with these rights has.
func (r Rights) of(list []*mcp.Tool) []*mcp.Tool {
	if r == AllRights {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(listed *mcp.Tool) bool {
		t, ours := toolNamed(listed.Name)
		return !ours || !t.readOnly && !(r == NoteRights && t.name == storeTool)
	})
}

// mark marks what a call stores as a child's.
func (r Rights) mark(t tool, v values) {
	if r == AllRights || t.name != storeTool {
		return
	}
	tags := v.text("tags")
	if tags != "" {
		tags += ","
	}
	v["tags"] = tags + childMark
}

// known keeps the arguments that we know: a daemon has others, and pins a memory by one of them.
func (r Rights) known(t tool, raw json.RawMessage) (json.RawMessage, error) {
	if r == AllRights || len(raw) == 0 {
		return raw, nil
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool {
		return !slices.ContainsFunc(t.arguments, func(a argument) bool { return a.name == name })
	})
	return json.Marshal(fields)
}

// who says how what a call stores came.
func (r Rights) who() memory.Who {
	if r == AllRights {
		return memory.Tool
	}
	return memory.Child
}
