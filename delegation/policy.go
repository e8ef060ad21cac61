package delegation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	acp "github.com/coder/acp-go-sdk"

	"github.com/Signet-AI/signet-acp-proxy/acpclient"
	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// A policy answers the child's requests for permission, because no person sits in front of it. The zero value allows
// reading.
type policy struct {
	mode         Mode
	inside       func(path string) bool // whether it lies in the child's folder
	allowedKinds []string               // tool kinds that a person has allowed: execute, fetch

	calls   map[string]acpclient.ToolCall // what was said of calls before the request for permission
	refused []string
}

const (
	mostCalls   = 256 // calls that are remembered at once
	mostRefused = 50
)

// remember keeps what is said of a tool call.
func (p *policy) remember(call acpclient.ToolCall) {
	if call.ID == "" {
		return
	}
	if p.calls == nil || len(p.calls) >= mostCalls {
		p.calls = map[string]acpclient.ToolCall{}
	}
	p.calls[call.ID] = complete(call, p.calls[call.ID])
}

// complete fills fields that a message leaves out from an earlier one.
func complete(call, earlier acpclient.ToolCall) acpclient.ToolCall {
	call.Title, call.Name = cmp.Or(call.Title, earlier.Title), cmp.Or(call.Name, earlier.Name)
	call.ToolKind = cmp.Or(call.ToolKind, earlier.ToolKind)
	call.Meta.Claude.Tool = cmp.Or(call.Meta.Claude.Tool, earlier.Meta.Claude.Tool)
	if len(call.Locations) == 0 {
		call.Locations = earlier.Locations
	}
	if len(call.Input) == 0 {
		call.Input = earlier.Input
	}
	if len(call.Changes) == 0 {
		call.Changes = earlier.Changes
	}
	return call
}

// allow decides a request, and notes what it refuses.
func (p *policy) allow(call acpclient.ToolCall) bool {
	call = complete(call, p.calls[call.ID])
	why := p.refusalReason(call)
	if why != "" && len(p.refused) < mostRefused {
		name := call.Title
		if name == "" {
			name = call.Name
		}
		p.refused = append(p.refused, fmt.Sprintf("%s: %s", chars.Cut(strings.Join(strings.Fields(name), " "), 120),
			why))
	}
	return why == ""
}

// refusalReason says why a call is refused, "" for one that is allowed.
func (p *policy) refusalReason(call acpclient.ToolCall) string {
	switch call.ToolKind {
	case acp.ToolKindRead, acp.ToolKindSearch, acp.ToolKindThink:
		return ""
	case acp.ToolKindEdit, acp.ToolKindDelete, acp.ToolKindMove:
		if p.mode != Edit {
			return "mode is read"
		}
		paths := pathsOf(call)
		if len(paths) == 0 {
			return "it names no file"
		}
		if i := slices.IndexFunc(paths, func(path string) bool { return !p.inside(path) }); i >= 0 {
			return chars.Cut(paths[i], 200) + " lies outside of its folder"
		}
		return ""
	case acp.ToolKindExecute, acp.ToolKindFetch:
		if slices.Contains(p.allowedKinds, string(call.ToolKind)) {
			return ""
		}
		return string(call.ToolKind) + " is not allowed here (delegation_allow)"
	}
	for _, name := range []string{call.Name, call.Meta.Claude.Tool, call.Title} {
		if ownTool().MatchString(name) {
			return ""
		}
	}
	return "nobody is there to ask"
}

// ownTool matches the tools of our own server that change nothing of the user's, as harnesses spell their names.
var ownTool = pattern.New(`^(mcp[_.:]+)?signet[_.:/ -]+(memory_(search|get|list)|agents_list|delegat[a-z_]+)\b` +
	`|^(memory_(search|get|list)|agents_list|delegat[a-z_]+) \(signet MCP Server\)`)

// pathsOf gives the files that a call names.
func pathsOf(call acpclient.ToolCall) []string {
	var paths []string
	for _, l := range call.Locations {
		paths = append(paths, l.Path)
	}
	paths = append(paths, call.Changes...)
	var input map[string]json.RawMessage
	if json.Unmarshal(call.Input, &input) != nil {
		return paths
	}
	for name, value := range input {
		var text string
		var changes map[string]json.RawMessage
		switch lower := strings.ToLower(name); {
		case (strings.Contains(lower, "path") || strings.Contains(lower, "file") || lower == "destination" ||
			lower == "source") && json.Unmarshal(value, &text) == nil && text != "":
			paths = append(paths, text)
		case lower == "changes" && json.Unmarshal(value, &changes) == nil:
			for path := range changes {
				paths = append(paths, path)
			}
		}
	}
	return paths
}
