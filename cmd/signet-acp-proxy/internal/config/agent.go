package config

import (
	"time"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// AgentConfig is a harness's section of the configuration, below agents:. A name that is not known makes a new agent,
// which needs a command.
type AgentConfig struct {
	Inject  bool        `yaml:"inject" default:"true" help:"off: the agent runs as if without the proxy, and nothing is stored"`
	MCP     string      `yaml:"mcp" enum:"auto,off,stdio,http" help:"how it gets the memory tools, in place of mcp"`
	AgentID string      `yaml:"agent_id" help:"the Signet agent, in place of agent_id"`
	Command commandLine `yaml:"command" help:"its command line, a text or a list"`

	Capabilities    []string      `yaml:"capabilities" help:"what it is good at, for agents that choose a delegate"`
	Env             []string      `yaml:"env" help:"variables that it keeps as a delegated agent, besides those of its provider; it may read the files that they name"`
	Grace           time.Duration `yaml:"grace" help:"how long it may take to exit by itself"`
	AsksForTools    *bool         `yaml:"asks_for_tools" help:"whether it asks the user before each memory tool"`
	KeepsFailed     *bool         `yaml:"keeps_failed" help:"whether a failed prompt stays in its history"`
	CompactCommands []string      `yaml:"compact_commands" help:"its commands that compact the conversation, without the slash"`
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
