package delegation

import (
	"context"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/mcpserver"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// ChildTools are those of Tools that a child has, too: it neither applies nor judges anything.
func ChildTools(service func(context.Context) (*Service, error), caller func(memory.Session) Caller) []mcpserver.Extra {
	return slices.DeleteFunc(Tools(service, caller), func(x mcpserver.Extra) bool {
		return x.Tool.Name == applyTool || x.Tool.Name == feedbackTool
	})
}

// Rights are those of the memory tools of a process with this environment: a child has those of its mode.
func Rights(environment func(string) string) mcpserver.Rights {
	switch {
	case Inside(environment) == "":
		return mcpserver.AllRights
	case Mode(environment(modeVariable)) == Edit:
		return mcpserver.NoteRights
	}
	return mcpserver.ReadRights
}

// isChildTool reports whether one of the names of a call is that of a tool of our own server that a child has.
func isChildTool(mode Mode, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return ownTool().MatchString(name) || mode == Edit && noteTool().MatchString(name)
	})
}

// ownTool and noteTool match the whole name of a tool of our own server that a child has, as harnesses spell it; the
// second one is for edit.
var (
	ownTool  = pattern.New(spelt(`memory_(search|get|list|files)|agents_list|delegat(e|ion_[a-z]+)`))
	noteTool = pattern.New(spelt(`memory_store`))
)

func spelt(names string) string {
	return `^((mcp[_.:]+)?signet[_.:/ -]+(` + names + `)|(` + names + `) \(signet MCP Server\))$`
}
