package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// AgentConfig is what the acp: section says of one harness, under agents: and its name. A name that is not known makes an
// agent of its own, which needs a command.
type AgentConfig struct {
	Inject  bool        `yaml:"inject" default:"true" help:"off: the harness runs as without us, nothing is stored"`
	MCP     string      `yaml:"mcp" enum:"auto,off,stdio,http" help:"how it gets the memory tools, in place of the common way"`
	AgentID string      `yaml:"agent_id" help:"the Signet agent, in place of the common one"`
	Command commandLine `yaml:"command" help:"its command line, a text or a list"`
}

// commandLine is a program and its arguments.
type commandLine []string

// splitCommand splits a command line as acpx does: at white space, with quotes and backslashes, and nothing else of a shell's.
func splitCommand(text string) (commandLine, error) {
	var words commandLine
	var word strings.Builder
	inWord, quote := false, rune(0)
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == '\\' && quote != '\'' && i+1 < len(runes) && (quote == 0 || strings.ContainsRune(`"\`, runes[i+1])):
			i++
			word.WriteRune(runes[i])
			inWord = true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, inWord = r, true
		case quote == 0 && strings.ContainsRune(" \t\n", r):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("names no program")
	}
	return words, nil
}

// readAgents reads agents:, a mapping of names.
func (c *Config) readAgents(path string, node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return configError{path, node.Line, errors.New("agents must hold a section for each agent")}
	}
	c.Agents = map[string]AgentConfig{}
	var mistakes []error
	for name, section := range members(node) {
		if section.Kind != yaml.MappingNode {
			mistakes = append(mistakes, configError{path, section.Line, fmt.Errorf("agents.%s must hold settings", name.Value)})
			continue
		}
		var agent AgentConfig
		fields := settingsOf(&agent)
		for _, s := range fields {
			if err := s.set(s.def); s.def != "" && err != nil {
				mistakes = append(mistakes, err)
			}
		}
		prefix := "agents." + canonical(name.Value) + "."
		for key, value := range members(section) {
			i := slices.IndexFunc(fields, func(s setting) bool { return s.name == key.Value })
			if i < 0 {
				mistakes = append(mistakes, configError{path, key.Line, fmt.Errorf("unknown setting %q of an agent; did you mean %q?", key.Value, nearest(key.Value, settingNames(fields)))})
				continue
			}
			if err := fields[i].decode(value); err != nil {
				mistakes = append(mistakes, configError{path, value.Line, fmt.Errorf("agents.%s.%w", name.Value, err)})
				continue
			}
			c.sources[prefix+key.Value] = fmt.Sprintf("%s:%d", path, key.Line)
		}
		if _, known := upstream.Lookup(name.Value); !known && len(agent.Command) == 0 {
			mistakes = append(mistakes, configError{path, name.Line, fmt.Errorf("agents.%s: no agent is known as that: give its command", name.Value)})
			continue
		}
		c.Agents[canonical(name.Value)] = agent
	}
	return errors.Join(mistakes...)
}

// members yields the keys and values of a mapping.
func members(node *yaml.Node) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; i+1 < len(node.Content); i += 2 {
			if !yield(node.Content[i], node.Content[i+1]) {
				return
			}
		}
	}
}

// canonical is the one name of an agent that may have several.
func canonical(name string) string {
	if p, known := upstream.Lookup(name); known {
		return p.Name
	}
	return strings.ToLower(strings.TrimSpace(name))
}

// agent gives what the configuration says of a harness.
func (c *Config) agent(name string) AgentConfig {
	if a, ok := c.Agents[canonical(name)]; ok {
		return a
	}
	return AgentConfig{Inject: true}
}

// profile finds a harness by name, one of the configuration's too.
func (c *Config) profile(name string) (upstream.Profile, bool) {
	p, known := upstream.Lookup(name)
	if a := c.agent(name); len(a.Command) > 0 {
		if !known {
			p, _ = upstream.ByCommand(a.Command)
			p.Name = canonical(name)
		}
		p.Command, p.Installed = slices.Clone(a.Command), nil
		return p, true
	}
	return p, known
}

// agentNames lists the harnesses that can be named.
func (c *Config) agentNames() []string {
	names := upstream.Names()
	for name := range c.Agents {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
