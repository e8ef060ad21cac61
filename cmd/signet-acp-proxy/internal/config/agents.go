package config

import (
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// AgentConfig is what the acp: section says of one harness, under agents: and its name. A name that is not known
// makes an agent of its own, which needs a command.
type AgentConfig struct {
	Inject  bool        `yaml:"inject" default:"true" help:"off: the harness runs as without us, nothing is stored"`
	MCP     string      `yaml:"mcp" enum:"auto,off,stdio,http" help:"how it gets the memory tools, in place of the common way"`
	AgentID string      `yaml:"agent_id" help:"the Signet agent, in place of the common one"`
	Command CommandLine `yaml:"command" help:"its command line, a text or a list"`

	Capabilities    []string      `yaml:"capabilities" help:"what it is good at, for agents that look for another to ask"`
	Grace           time.Duration `yaml:"grace" help:"how long it may take to end by itself"`
	AsksForTools    *bool         `yaml:"asks_for_tools" help:"it asks the user before each memory tool"`
	KeepsFailed     *bool         `yaml:"keeps_failed" help:"a prompt that failed is in its history"`
	CompactCommands []string      `yaml:"compact_commands" help:"its commands, without the slash, that sum the conversation up"`
}

// over gives a profile as the section has it: what it does not name stays.
func (a AgentConfig) over(p upstream.Profile) upstream.Profile {
	if a.Grace > 0 {
		p.Grace = a.Grace
	}
	if a.AsksForTools != nil {
		p.AsksForTools = *a.AsksForTools
	}
	if a.KeepsFailed != nil {
		p.KeepsFailedPrompt = *a.KeepsFailed
	}
	if a.CompactCommands != nil {
		p.CompactCommands = a.CompactCommands
	}
	return p
}

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

// ProfileOf finds what is known of a harness whatever the configuration says.
func ProfileOf(agent, name string) (upstream.Profile, bool) {
	if p, ok := upstream.ByAgent(agent); ok {
		return p, true
	}
	return upstream.Lookup(name)
}
