package config

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// A configError is a mistake of the person who wrote the configuration.
type configError struct {
	file string
	line int
	err  error
}

func (e configError) Error() string {
	if e.line > 0 {
		return fmt.Sprintf("%s:%d: %v", e.file, e.line, e.err)
	}
	return fmt.Sprintf("%s: %v", e.file, e.err)
}

// readFile reads the acp: section of agent.yaml. A missing file is no mistake.
func (c *Config) readFile(path string) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(b, &doc); err != nil {
		return configError{file: path, err: err}
	}
	c.readIdentity(child(&doc, "identity"))
	section := child(&doc, "acp")
	if section == nil {
		return nil
	}
	if section.Kind != yaml.MappingNode {
		return configError{path, section.Line, errors.New("acp must hold settings")}
	}
	var mistakes []error
	for i := 0; i+1 < len(section.Content); i += 2 {
		key, value := section.Content[i], section.Content[i+1]
		if key.Value == "agents" {
			mistakes = append(mistakes, c.readAgents(path, value))
			continue
		}
		s, known := settingNamed(c, key.Value)
		if key.Value == retired {
			continue
		}
		if !known {
			mistakes = append(mistakes, configError{path, key.Line,
				fmt.Errorf("unknown setting %q; did you mean %q?", key.Value,
					nearest(key.Value, settingNames(SettingsOf(c))))})
			continue
		}
		if err := s.decode(value); err != nil {
			mistakes = append(mistakes, configError{path, value.Line, err})
			continue
		}
		c.sources[s.Name] = fmt.Sprintf("%s:%d", path, key.Line)
	}
	return errors.Join(mistakes...)
}

// retired is a setting that does nothing any more. A file that has it is read as before.
const retired = "sink_unused"

// readIdentity reads from Signet's own section which identity files a session begins with, and whether there are any.
// Mistakes in that section are Signet's to report.
func (c *Config) readIdentity(node *yaml.Node) {
	var section struct {
		Mode    string
		Startup struct{ Load []string }
	}
	if node == nil || node.Decode(&section) != nil {
		return
	}
	switch {
	case section.Mode == "off", section.Mode == "passthrough": // the harness has its own
		c.IdentityFiles = []string{}
	case section.Startup.Load != nil:
		c.IdentityFiles = section.Startup.Load
	}
}

// child finds a key of a document's top mapping.
func child(doc *yaml.Node, key string) *yaml.Node {
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	top := doc.Content[0].Content
	for i := 0; i+1 < len(top); i += 2 {
		if top[i].Value == key {
			return top[i+1]
		}
	}
	return nil
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
			mistakes = append(mistakes, configError{path, section.Line,
				fmt.Errorf("agents.%s must hold settings", name.Value)})
			continue
		}
		var agent AgentConfig
		fields := SettingsOf(&agent)
		for _, s := range fields {
			if err := s.set(s.Default); s.Default != "" && err != nil {
				mistakes = append(mistakes, err)
			}
		}
		prefix := "agents." + Canonical(name.Value) + "."
		for key, value := range members(section) {
			i := slices.IndexFunc(fields, func(s Setting) bool { return s.Name == key.Value })
			if i < 0 {
				mistakes = append(mistakes, configError{path, key.Line,
					fmt.Errorf("unknown setting %q of an agent; did you mean %q?", key.Value,
						nearest(key.Value, settingNames(fields)))})
				continue
			}
			if err := fields[i].decode(value); err != nil {
				mistakes = append(mistakes, configError{path, value.Line, fmt.Errorf("agents.%s.%w", name.Value, err)})
				continue
			}
			c.sources[prefix+key.Value] = fmt.Sprintf("%s:%d", path, key.Line)
		}
		if _, known := upstream.Lookup(name.Value); !known && len(agent.Command) == 0 {
			mistakes = append(mistakes, configError{path, name.Line,
				fmt.Errorf("agents.%s: unknown agent: give its command", name.Value)})
			continue
		}
		c.Agents[Canonical(name.Value)] = agent
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
