package config

import (
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// Canonical returns the one name of an agent that may have several.
func Canonical(name string) string {
	if p, known := upstream.Lookup(name); known {
		return p.Name
	}
	return strings.ToLower(strings.TrimSpace(name))
}

// Agent returns the section of a harness.
func (c *Config) Agent(name string) AgentConfig {
	if a, ok := c.Agents[Canonical(name)]; ok {
		return a
	}
	return AgentConfig{Inject: true}
}

// Profile returns the profile of a harness by name, also one that only the configuration knows.
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
	return a.applyTo(p), known
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

// ProfileOf returns the profile of a harness, by its own name or the one that it was started by, with the settings of
// either's section.
func (c *Config) ProfileOf(agent, name string) (upstream.Profile, bool) {
	p, known := upstream.Lookup(agent, name)
	return c.Agent(name).applyTo(c.Agent(p.Name).applyTo(p)), known
}

// ProfileBy returns the profile of the harness that a command line starts, with the settings of its own section or of
// the one named.
func (c *Config) ProfileBy(command []string, name string) upstream.Profile {
	p, _ := upstream.ByCommand(command)
	return c.Agent(name).applyTo(c.Agent(p.Name).applyTo(p))
}

// applyTo returns a profile with the section's settings in the place of its own.
func (a AgentConfig) applyTo(p upstream.Profile) upstream.Profile {
	if a.Grace > 0 {
		p.Grace = a.Grace
	}
	if a.AsksForTools != nil {
		p.AsksForTools, p.UnaskedModes = *a.AsksForTools, nil
	}
	if a.KeepsFailed != nil {
		p.KeepsFailedPrompt = *a.KeepsFailed
	}
	if a.CompactCommands != nil {
		p.CompactCommands = a.CompactCommands
	}
	return p
}

// AgentConfig is a harness's section of the configuration, below agents:. A name that is not known makes a new agent,
// which needs a command.
type AgentConfig struct {
	Inject  bool        `yaml:"inject" default:"true" help:"off: the agent runs without memory, and nothing is stored"`
	MCP     string      `yaml:"mcp" enum:"auto,off,stdio,http" help:"how it gets the memory tools, in place of mcp"`
	AgentID string      `yaml:"agent_id" help:"the Signet agent, in place of agent_id"`
	Command commandLine `yaml:"command" help:"its command line, a text or a list"`

	Capabilities    []string      `yaml:"capabilities" help:"what it is good at, for agents that choose a delegate"`
	Env             []string      `yaml:"env" help:"more variables that it keeps as a delegated agent; it may read the files that they name"`
	Grace           time.Duration `yaml:"grace" help:"how long it may take to exit by itself"`
	AsksForTools    *bool         `yaml:"asks_for_tools" help:"whether it asks the user before each memory tool"`
	KeepsFailed     *bool         `yaml:"keeps_failed" help:"whether a failed prompt stays in its history"`
	CompactCommands []string      `yaml:"compact_commands" help:"its commands that compact the conversation, without the slash"`
}
