package proxy

import (
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// How client and harness greet each other (initialize), and what is known of them from then on.

// A clientHello is what an initialize request says.
type clientHello struct {
	session.Program
	version string // of the protocol that it asks for
	notices bool   // it asks for notice updates
	chained bool   // it asks for a proxy of a chain, which we are not
}

// An agentHello is what an initialize response says, and what is known of who has given it.
type agentHello struct {
	session.Program
	traits       session.Traits
	version      string   // of the protocol; "" for one whose frames are not edited
	systemPrompt bool     // it takes a system prompt
	servers      []string // the kinds of MCP servers that it takes (version 2)
}

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

// takesSystemPrompt reports whether an initialize response, of either protocol version, advertises systemPrompt.
func takesSystemPrompt(line []byte) bool {
	at, ok := frame.Find(line, "result", "agentCapabilities", "sessionCapabilities", "systemPrompt")
	if !ok {
		at, ok = frame.Find(line, "result", "capabilities", "session", "systemPrompt")
	}
	return ok && line[at.Start] == '{'
}

// takesNotices reports whether an initialize request asks for notice updates.
func takesNotices(line []byte) bool {
	at, ok := frame.Find(line, "params", "clientCapabilities", "session", "notices")
	return ok && line[at.Start] == '{'
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
