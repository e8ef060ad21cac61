package delegation

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/delegation/client"
)

// A policy answers the child's requests for permission: nobody sits in front of it. The zero value allows reading.
type policy struct {
	mode    Mode
	inside  func(path string) bool // in the folder that is the child's
	granted []string               // kinds that a person has allowed: execute, fetch

	calls   map[string]client.ToolCall // as far as they were told before they were asked for
	refused []string
}

const (
	mostCalls   = 256 // that are remembered at once
	mostRefused = 50
)

// see remembers what is said of a tool call.
func (p *policy) see(call client.ToolCall) {
	if call.ID == "" {
		return
	}
	if p.calls == nil || len(p.calls) >= mostCalls {
		p.calls = map[string]client.ToolCall{}
	}
	p.calls[call.ID] = complete(call, p.calls[call.ID])
}

// complete fills what is not told in one message from an earlier one.
func complete(call, earlier client.ToolCall) client.ToolCall {
	for _, field := range []struct{ now, was *string }{{&call.Title, &earlier.Title}, {&call.Does, &earlier.Does},
		{&call.Name, &earlier.Name}, {&call.Meta.Claude.Tool, &earlier.Meta.Claude.Tool}} {
		if *field.now == "" {
			*field.now = *field.was
		}
	}
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

// allow decides, and remembers what it refused.
func (p *policy) allow(call client.ToolCall) bool {
	call = complete(call, p.calls[call.ID])
	why := p.against(call)
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

// against says why a call is refused, "" for one that is not.
func (p *policy) against(call client.ToolCall) string {
	switch call.Does {
	case "read", "search", "think":
		return ""
	case "edit", "delete", "move":
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
	case "execute", "fetch":
		if slices.Contains(p.granted, call.Does) {
			return ""
		}
		return call.Does + " is not allowed here (delegation_allow)"
	}
	for _, name := range []string{call.Name, call.Meta.Claude.Tool, call.Title} {
		if ownTool.MatchString(name) {
			return ""
		}
	}
	return "nobody is there to ask"
}

// ownTool names the tools of our own server that change nothing of anybody's, as harnesses spell them.
var ownTool = regexp.MustCompile(`^(mcp[_.:]+)?signet[_.:/ -]+(memory_(search|get|list)|agents_list|delegat[a-z_]+)\b` +
	`|^(memory_(search|get|list)|agents_list|delegat[a-z_]+) \(signet MCP Server\)`)

// pathsOf gives the files that a call names.
func pathsOf(call client.ToolCall) []string {
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
