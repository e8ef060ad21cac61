package config

import (
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// Canonical is the one name of an agent that may have several.
func Canonical(name string) string {
	if p, known := upstream.Lookup(name); known {
		return p.Name
	}
	return strings.ToLower(strings.TrimSpace(name))
}

// Agent gives what the configuration says of a harness.
func (c *Config) Agent(name string) AgentConfig {
	if a, ok := c.Agents[Canonical(name)]; ok {
		return a
	}
	return AgentConfig{Inject: true}
}

// Profile finds a harness by name, one of the configuration's too.
func (c *Config) Profile(name string) (upstream.Profile, bool) {
	p, known := upstream.Lookup(name)
	a := c.Agent(name)
	if len(a.Command) > 0 {
		if !known {
			p, _ = upstream.ByCommand(a.Command)
			p.Name, known = Canonical(name), true
		}
		p.Command, p.Installed = slices.Clone(a.Command), nil
	}
	return a.over(p), known
}

// AgentNames lists the harnesses that can be named.
func (c *Config) AgentNames() []string {
	names := upstream.Names()
	for name := range c.Agents {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// MCPFor says how a harness, by its own name or the one that it was started by, gets the memory tools:
// upstream.MCPStdio, upstream.MCPHTTP or "off".
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
	case upstream.MCPNone:
		return "off"
	}
	return profile.MCP
}

// ProfileOf finds what is known of a harness, by its own name or the one that it was started by, and what the
// configuration says of either.
func (c *Config) ProfileOf(agent, name string) (upstream.Profile, bool) {
	p, known := ProfileOf(agent, name)
	return c.Agent(name).over(c.Agent(p.Name).over(p)), known
}

// ProfileBy finds what is known of the harness that a command line starts, and what the configuration says of it by its
// own name or the one that it is given.
func (c *Config) ProfileBy(command []string, name string) upstream.Profile {
	p, _ := upstream.ByCommand(command)
	return c.Agent(name).over(c.Agent(p.Name).over(p))
}

// ProfileOf finds what is known of a harness whatever the configuration says.
func ProfileOf(agent, name string) (upstream.Profile, bool) {
	if p, ok := upstream.ByAgent(agent); ok {
		return p, true
	}
	return upstream.Lookup(name)
}
