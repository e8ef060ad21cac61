package proxy

import (
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// What is different in version 2 of the protocol (docs/facts/acp.md, "Version 2"): a prompt's response comes when the
// prompt is accepted, a state_update ends the turn, user messages are shown live and whole, and a stdio server names
// its type.

// programAt returns the name and version of a client or agent in an initialize message, of either version.
func programAt(line []byte, path ...string) (p session.Program) {
	for _, name := range []string{"info", "clientInfo", "agentInfo"} {
		if at, ok := frame.Find(line, append(path, name)...); ok && line[at.Start] == '{' {
			p.Name, _ = stringAt(at.Of(line), "name")
			p.Version, _ = stringAt(at.Of(line), "version")
		}
	}
	return p
}

// serversTaken returns the kinds of MCP servers that a harness of version 2 takes. It refuses a session with one of
// another kind.
func serversTaken(line []byte) (kinds []string) {
	at, ok := frame.Find(line, "result", "capabilities", "session", "mcp")
	if !ok || line[at.Start] != '{' {
		return nil
	}
	for kind, how := range frame.Members(line, at) {
		if line[how.Start] == '{' {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// typed returns an element of mcpServers with its type, which version 2 requires.
func typed(server []byte) []byte {
	if _, ok := frame.Find(server, "type"); ok {
		return server
	}
	if edited, ok := frame.Add(server, []byte(`"stdio"`), "type"); ok {
		return edited
	}
	return server
}
