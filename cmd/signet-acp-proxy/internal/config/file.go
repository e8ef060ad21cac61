package config

import (
	"errors"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/Signet-AI/signet-acp-proxy/files"
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
	b, err := files.Read(path)
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
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	c.readIdentity(child(doc.Content[0], "identity"))
	section := child(doc.Content[0], "acp")
	if section == nil || isEmpty(section) {
		return nil
	}
	if section.Kind != yaml.MappingNode {
		return configError{path, section.Line, errors.New("acp must contain settings")}
	}
	err = c.readSection(path, section, SettingsOf(c), "", "")
	if agents := child(section, "agents"); agents != nil {
		err = errors.Join(err, c.readAgents(path, agents))
	}
	return err
}

// readSection sets settings from a mapping. Their names are prefixed where they come from; a mistake in a value begins
// with in, the section's name as it was written.
func (c *Config) readSection(path string, section *yaml.Node, settings []Setting, prefix, in string) error {
	var mistakes []error
	for key, value := range members(section) {
		s, known := find(settings, key.Value)
		if in == "" && (key.Value == "agents" || c.warnRetired(fmt.Sprintf("%s:%d", path, key.Line), key.Value)) {
			continue
		}
		if !known {
			of := ""
			if in != "" {
				of = " of an agent"
			}
			mistakes = append(mistakes, configError{path, key.Line, fmt.Errorf("unknown setting %q%s; did you mean %q?",
				key.Value, of, nearest(key.Value, settingNames(settings)))})
			continue
		}
		if err := s.decode(value); err != nil {
			mistakes = append(mistakes, configError{path, value.Line, fmt.Errorf("%s%w", in, err)})
			continue
		}
		c.sources[prefix+s.Name] = fmt.Sprintf("%s:%d", path, key.Line)
	}
	return errors.Join(mistakes...)
}

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

// child finds the value of a key of a mapping.
func child(mapping *yaml.Node, name string) *yaml.Node {
	_, value := member(mapping, name)
	return value
}

// member finds a key of a mapping, and its value.
func member(mapping *yaml.Node, name string) (key, value *yaml.Node) {
	for key, value := range members(mapping) {
		if key.Value == name {
			return key, value
		}
	}
	return nil, nil
}

// isEmpty reports whether a key has no value: all that stood below it was taken out.
func isEmpty(value *yaml.Node) bool { return value.Tag == "!!null" }

// readAgents reads agents:, a mapping of names.
func (c *Config) readAgents(path string, node *yaml.Node) error {
	if isEmpty(node) {
		return nil
	}
	if node.Kind != yaml.MappingNode {
		return configError{path, node.Line, errors.New("agents must contain a section for each agent")}
	}
	c.Agents = map[string]AgentConfig{}
	var mistakes []error
	for name, section := range members(node) {
		if section.Kind != yaml.MappingNode && !isEmpty(section) {
			mistakes = append(mistakes, configError{path, section.Line,
				fmt.Errorf("agents.%s must contain settings", name.Value)})
			continue
		}
		var agent AgentConfig
		fields := SettingsOf(&agent)
		for _, s := range fields {
			if err := s.set(s.Default); s.Default != "" && err != nil {
				mistakes = append(mistakes, err)
			}
		}
		mistakes = append(mistakes, c.readSection(path, section, fields, "agents."+Canonical(name.Value)+".",
			"agents."+name.Value+"."))
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
