package delegation

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	acp "github.com/coder/acp-go-sdk"

	"github.com/Signet-AI/signet-acp-proxy/acpclient"
	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
)

// A policy answers the child's requests for permission, because no person sits in front of it; what it refuses may be
// put to the caller's user (askCaller). The zero value allows reading.
type policy struct {
	mode         Mode
	inside       func(path string) bool // whether it lies in the child's folder
	allowedKinds []string               // tool kinds that a person has allowed: execute, fetch

	calls   map[string]acpclient.ToolCall // what was said of calls before the request for permission
	refused []string
}

const (
	maxCalls   = 256 // calls that are remembered at once
	maxRefused = 50
)

// remember keeps what is said of a tool call.
func (p *policy) remember(call acpclient.ToolCall) {
	if call.ID == "" {
		return
	}
	if p.calls == nil || len(p.calls) >= maxCalls {
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
	if len(call.Content.Diffs) == 0 {
		call.Content = earlier.Content
	}
	return call
}

// refuse notes that a call was refused.
func (p *policy) refuse(call acpclient.ToolCall, why string) {
	if len(p.refused) < maxRefused {
		p.refused = append(p.refused, chars.Cut(nameOf(call), 120)+": "+why)
	}
}

// nameOf says in a line what a call is.
func nameOf(call acpclient.ToolCall) string {
	return chars.OneLine(cmp.Or(call.Title, call.Name))
}

// gitsOwn ends the reason of a refusal that nobody can lift.
const gitsOwn = " is git's own"

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
			return "the request names no file"
		}
		if i := slices.IndexFunc(paths, worktree.NamesGit); i >= 0 {
			return chars.Cut(paths[i], 200) + gitsOwn
		}
		if i := slices.IndexFunc(paths, func(path string) bool { return !p.inside(path) }); i >= 0 {
			return chars.Cut(paths[i], 200) + " is outside its folder"
		}
		return ""
	case acp.ToolKindExecute, acp.ToolKindFetch:
		if slices.Contains(p.allowedKinds, string(call.ToolKind)) {
			return ""
		}
		return string(call.ToolKind) + " is not allowed here (delegation_allow)"
	}
	if isChildTool(p.mode, call.Name, call.Meta.Claude.Tool, call.Title) {
		return ""
	}
	return "no one is there to ask"
}

// pathsOf returns the files that a call names, in whatever of its arguments; also what could be a path of git's.
func pathsOf(call acpclient.ToolCall) []string {
	var paths []string
	for _, l := range call.Locations {
		paths = append(paths, l.Path)
	}
	paths = append(paths, call.Content.Diffs...)
	var input any
	if json.Unmarshal(call.Input, &input) != nil {
		return paths
	}
	return append(paths, pathsIn("", input)...)
}

// pathsIn returns the paths in a value that stands under a name.
func pathsIn(name string, value any) (paths []string) {
	switch value := value.(type) {
	case string:
		return pathsInText(strings.ToLower(name), value)
	case []any:
		for _, one := range value {
			paths = append(paths, pathsIn(name, one)...)
		}
	case map[string]any:
		for key, one := range value {
			if name == "changes" {
				paths = append(paths, key)
			}
			paths = append(paths, pathsIn(key, one)...)
		}
	}
	return paths
}

func pathsInText(name, text string) (paths []string) {
	isPath := strings.Contains(name, "path") || strings.Contains(name, "file") || name == "destination" ||
		name == "source"
	if text != "" && (isPath || !strings.Contains(text, "\n") && worktree.NamesGit(text)) {
		return []string{text}
	}
	for line := range strings.Lines(text) { // codex's patches name their files so
		if _, file, ok := strings.Cut(line, " File: "); ok && strings.HasPrefix(line, "*** ") {
			paths = append(paths, strings.TrimRight(file, "\r\n"))
		}
	}
	return paths
}
