package config

import "github.com/Signet-AI/signet-acp-proxy/upstream"

// MCPFor returns how a harness, by its own name or the one that it was started by, gets the memory tools:
// upstream.MCPStdio, upstream.MCPHTTP or "off". Where delegation is on, HTTP must be asked for: its token may stand in
// an argument of the harness, and then a child reads it.
func (c *Config) MCPFor(agent, name string) string {
	profile, known := c.ProfileOf(agent, name)
	mode := c.Agent(name).MCP
	if mode == "" && known {
		mode = c.Agent(profile.Name).MCP
	}
	if mode == "" {
		mode = c.MCP
	}
	if mode != "auto" {
		return mode
	}
	switch profile.MCP {
	case "":
		return upstream.MCPStdio
	case upstream.MCPHTTP:
		if !c.Delegation {
			return upstream.MCPHTTP
		}
	}
	return "off"
}
