package proxy

import (
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// How client and harness greet each other (initialize), and what is known of them from then on.

// initialize notes who the client is, and returns the request as the harness is to get it.
func (e *env) initialize(line, id []byte) []byte {
	client := clientHello{Program: programAt(line, "params"),
		notices: hasObject(line, "params", "clientCapabilities", "session", "notices")}
	if at, ok := frame.Find(line, "params", "protocolVersion"); ok {
		client.version = string(at.Of(line))
	}
	if _, client.chained = frame.Find(line, "params", "_meta", "proxy"); client.chained {
		e.declineChain()
	}
	e.client.Store(&client)
	e.talk.Do(func(c *session.Connection) { c.ClientGreeted(client.Program, idKey(id), methodInitialize) })
	if client.Name != acpxName {
		return line
	}
	edited := e.o.Compat.initialize(line)
	e.logEdit("acpx's initialize", nil, line, edited)
	return edited
}

// declineChain tells that a conductor has put us into the place of a proxy.
func (e *env) declineChain() {
	e.tell("the client asked for a proxy of a chain; this program is an agent: put its whole command into the " +
		"agent's place, the last of the chain; everything passes unchanged")
}

// initialized reads the initialize response: what the agent is and takes, and whether frames may be edited in this
// version of the protocol.
func (e *env) initialized(c *session.Connection, line []byte) {
	at, ok := frame.Find(line, "result", "protocolVersion")
	if !ok {
		return
	}
	agent := agentHello{
		Program: programAt(line, "result"), servers: serversTaken(line),
		systemPrompt: hasObject(line, "result", "agentCapabilities", "sessionCapabilities", "systemPrompt") ||
			hasObject(line, "result", "capabilities", "session", "systemPrompt"), // version 2
	}
	agent.traits = e.o.Traits(agent.Name)
	client := e.client.Load()
	switch got := string(at.Of(line)); {
	case client.chained:
	case client.version == version1 && got == version2:
		e.tell("the agent speaks protocol version 2, the client asked for 1: all passes unchanged, without memory")
	case got == version1, got == version2:
		agent.version = got
	default:
		e.tell("the agent speaks protocol version %.20s; memory works with versions %s and %s only, "+
			"so everything passes unchanged",
			got, version1, version2)
	}
	e.agent.Store(&agent)
	c.AgentGreeted(agent.Program, agent.traits)
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
			kinds = append(kinds, string(kind))
		}
	}
	return kinds
}

// hasObject reports whether there is an object at a path: so capabilities are advertised.
func hasObject(line []byte, path ...string) bool {
	at, ok := frame.Find(line, path...)
	return ok && line[at.Start] == '{'
}
