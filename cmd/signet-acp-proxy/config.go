package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Config is every setting. A setting's value comes from the flag, else from
// the environment (SIGNET_ACP_ and its name in capitals), else from the acp:
// section of agent.yaml, else it is the default that its tag names.
type Config struct {
	Memory        string        `yaml:"memory" default:"auto" enum:"auto,daemon,embedded,off" help:"where context comes from"`
	DaemonURL     string        `yaml:"daemon_url" help:"the Signet daemon; also SIGNET_DAEMON_URL, SIGNET_HOST and SIGNET_PORT (127.0.0.1:3850)"`
	DB            string        `yaml:"db" help:"the database (acp/sessions.db in the Signet folder)"`
	LogLevel      string        `yaml:"log_level" default:"info" enum:"trace,debug,info,warn,error,disabled" help:"how much is logged"`
	LogFile       string        `yaml:"log_file" help:"log here in place of acp/log/proxy.log; - is stderr"`
	Hold          time.Duration `yaml:"hold" default:"1.5s" help:"how long a prompt may wait for its context"`
	DatabaseWait  time.Duration `yaml:"database_wait" default:"100ms" help:"and of that, how long for the database"`
	Fetch         time.Duration `yaml:"fetch" default:"15s" help:"how long the daemon may take to give a context; also SIGNET_SESSION_START_TIMEOUT"`
	ContextAge    time.Duration `yaml:"context_age" default:"15m" help:"how long an unused context is good for the next process"`
	PerPrompt     bool          `yaml:"per_prompt" default:"false" help:"recall for later prompts too"`
	Announce      bool          `yaml:"announce" default:"false" help:"tell the client each session's Signet key, as _meta[\"signet.ai\"].sessionKey of the result that opens it"`
	Reinject      string        `yaml:"reinject" default:"identity" enum:"never,identity,all" help:"what goes in again after the harness compacted the conversation"`
	SlashPrefixes []string      `yaml:"slash_prefixes" default:"/" help:"what a slash command begins with"`
	ToolHint      string        `yaml:"tool_hint" default:"auto" enum:"auto,always,never" help:"whether the context names the memory tool"`
	MCP           string        `yaml:"mcp" default:"auto" enum:"auto,off,stdio,http" help:"how harnesses get the memory tools; auto is what suits each"`
	MCPCommand    commandLine   `yaml:"mcp_command" help:"an MCP server in place of ours while the daemon is there, such as signet-mcp"`
	Hooks         string        `yaml:"hooks" default:"disabled" enum:"disabled,inherit,enabled" help:"the harness's own Signet hooks"`
	Nested        string        `yaml:"nested" default:"off" enum:"off,inject" help:"what an agent that a proxied agent calls gets: nothing, or memory like its own, as the child of that session"`
	Placement     string        `yaml:"placement" default:"prompt" enum:"prompt,system,auto" help:"where identity goes: the first prompt; the system prompt where a harness takes one; auto where it is known to heed it"`
	Exclude       []string      `yaml:"exclude" help:"globs of folders that are left alone"`
	Retention     time.Duration `yaml:"retention" default:"365d" help:"how long turns are kept; 0 keeps none that owes nothing"`
	OtherProjects bool          `yaml:"other_projects" default:"false" help:"recall from other projects too"`
	AgentID       string        `yaml:"agent_id" help:"the Signet agent"`

	OnSessionEnd      commandLine   `yaml:"on_session_end" help:"a command, as a list with its arguments or as words, that is run after a session with JSON on stdin"`
	OnSessionEndLimit time.Duration `yaml:"on_session_end_limit" default:"1m" help:"how long it may run"`
	DeliverAtExit     time.Duration `yaml:"deliver_at_exit" default:"0s" help:"deliver before we exit, for this long at most: for containers, which nothing outlives"`

	// Agents are the sections of single harnesses, by canonical name.
	Agents map[string]AgentConfig `yaml:"-"`

	// SignetPath has no place in the file that lies in it.
	SignetPath string `yaml:"-" env:"SIGNET_PATH" help:"identity files, configuration and database (~/.agents)"`

	daemonConfigured bool
	sources          map[string]string // where each value came from
}

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

// loadConfig gives the configuration. With mistakes in it the error names
// them all, and the configuration stands with the defaults in their places: the relay must start.
func loadConfig(f *Flags) (*Config, error) {
	c := &Config{sources: map[string]string{}}
	var mistakes []error
	mistake := func(err error) {
		if err != nil {
			mistakes = append(mistakes, err)
		}
	}
	for _, s := range settings(c) {
		if s.def != "" {
			mistake(s.set(s.def))
		}
		c.sources[s.name] = "default"
	}
	mistake(c.locate(f))
	mistake(c.readFile(filepath.Join(c.SignetPath, "agent.yaml")))
	for _, s := range settings(c) {
		if v := os.Getenv(s.env); v != "" {
			if err := s.set(v); err != nil {
				mistake(configError{file: s.env, err: err})
				continue
			}
			c.sources[s.name] = s.env
		}
	}
	for name, v := range map[string]string{"memory": f.Memory, "daemon_url": f.DaemonURL, "db": f.DB, "log_level": f.LogLevel, "log_file": f.LogFile} {
		if v == "" {
			continue
		}
		flag := "--" + strings.ReplaceAll(name, "_", "-")
		s, _ := settingNamed(c, name)
		if err := s.set(v); err != nil {
			return c, exitError{exitUsage, fmt.Errorf("%s: %w", flag, err)}
		}
		c.sources[name] = flag
	}
	if c.sources["fetch"] == "default" {
		c.fetchLikeSignet()
	}
	c.findDaemon()
	if c.DB == "" {
		c.DB = filepath.Join(c.SignetPath, "acp", "sessions.db")
	}
	return c, errors.Join(mistakes...)
}

// locate finds the Signet folder.
func (c *Config) locate(f *Flags) error {
	c.SignetPath, c.sources["signet_path"] = f.SignetPath, "--signet-path"
	if c.SignetPath == "" {
		c.SignetPath, c.sources["signet_path"] = os.Getenv("SIGNET_PATH"), "SIGNET_PATH"
	}
	if c.SignetPath == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return fmt.Errorf("finding the home folder: %w; set SIGNET_PATH", err)
		}
		c.SignetPath, c.sources["signet_path"] = filepath.Join(home, ".agents"), "default"
	}
	path, err := filepath.Abs(c.SignetPath)
	if err != nil {
		return fmt.Errorf("finding the Signet folder: %w", err)
	}
	c.SignetPath = path
	return nil
}

// findDaemon settles the daemon's address. One that a person named is
// trusted; the default one has to prove that it is ours.
func (c *Config) findDaemon() {
	if c.DaemonURL == "" {
		if c.DaemonURL = os.Getenv("SIGNET_DAEMON_URL"); c.DaemonURL != "" {
			c.sources["daemon_url"] = "SIGNET_DAEMON_URL"
		}
	}
	c.daemonConfigured = c.DaemonURL != ""
	if c.daemonConfigured {
		return
	}
	host, port := "127.0.0.1", "3850"
	if v := os.Getenv("SIGNET_HOST"); v != "" && v != "localhost" && v != "::1" {
		host = v
	}
	if v := os.Getenv("SIGNET_PORT"); v != "" {
		port = v
	}
	c.DaemonURL = "http://" + host + ":" + port
}

// fetchLikeSignet takes the limit that Signet's own clients have, in
// milliseconds, where it is one that they accept.
func (c *Config) fetchLikeSignet() {
	for _, name := range []string{"SIGNET_SESSION_START_TIMEOUT", "SIGNET_FETCH_TIMEOUT"} {
		ms, err := strconv.Atoi(os.Getenv(name))
		if limit := time.Duration(ms) * time.Millisecond; err == nil && limit >= time.Second && limit <= 2*time.Minute {
			c.Fetch, c.sources["fetch"] = limit, name
			return
		}
	}
}

// readFile takes the acp: section of agent.yaml. A missing file is no mistake.
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
		if !known {
			mistakes = append(mistakes, configError{path, key.Line, fmt.Errorf("unknown setting %q; did you mean %q?", key.Value, nearest(key.Value, settingNames(settings(c))))})
			continue
		}
		if err := s.decode(value); err != nil {
			mistakes = append(mistakes, configError{path, value.Line, err})
			continue
		}
		c.sources[s.name] = fmt.Sprintf("%s:%d", path, key.Line)
	}
	return errors.Join(mistakes...)
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

// A setting is one field of Config.
type setting struct {
	name, env, def, help string
	enum                 []string
	value                reflect.Value
}

// settings lists the fields of c that the file may hold.
func settings(c *Config) []setting { return settingsOf(c) }

// settingsOf lists the fields of a struct that the file may hold.
func settingsOf(section any) []setting {
	var all []setting
	v := reflect.ValueOf(section).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, ok := field.Tag.Lookup("yaml")
		if !ok || name == "-" {
			continue
		}
		s := setting{name: name, env: "SIGNET_ACP_" + strings.ToUpper(name), def: field.Tag.Get("default"), help: field.Tag.Get("help"), value: v.Field(i)}
		if enum := field.Tag.Get("enum"); enum != "" {
			s.enum = strings.Split(enum, ",")
		}
		all = append(all, s)
	}
	return all
}

func settingNames(all []setting) []string {
	var names []string
	for _, s := range all {
		names = append(names, s.name)
	}
	return names
}

func settingNamed(c *Config, name string) (setting, bool) {
	for _, s := range settings(c) {
		if s.name == name {
			return s, true
		}
	}
	return setting{}, false
}

// set reads a value as the environment and the flags have it; a list has commas.
func (s setting) set(text string) error {
	if s.enum != nil && !slices.Contains(s.enum, text) {
		return fmt.Errorf("%s must be one of %s, not %q", s.name, strings.Join(s.enum, ", "), text)
	}
	switch s.value.Interface().(type) {
	case string:
		s.value.SetString(text)
	case []string:
		s.value.Set(reflect.ValueOf(strings.Split(text, ",")))
	case bool:
		b, err := parseBool(text)
		if err != nil {
			return fmt.Errorf("%s must be true or false, not %q", s.name, text)
		}
		s.value.SetBool(b)
	case time.Duration:
		d, err := parseDuration(text)
		if err != nil || d < 0 {
			return fmt.Errorf("%s must be a duration such as 1.5s, 15m or 30d, not %q", s.name, text)
		}
		s.value.SetInt(int64(d))
	case commandLine:
		words, err := splitCommand(text)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		s.value.Set(reflect.ValueOf(words))
	}
	return nil
}

// parseBool takes YAML's words for it too.
func parseBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "on", "yes":
		return true, nil
	case "off", "no":
		return false, nil
	}
	return strconv.ParseBool(text)
}

// decode reads a value as the file has it.
func (s setting) decode(node *yaml.Node) error {
	if node.Kind == yaml.SequenceNode && s.value.Kind() == reflect.Slice {
		if err := node.Decode(s.value.Addr().Interface()); err != nil {
			return fmt.Errorf("%s must be a list of texts", s.name)
		}
		return nil
	}
	if node.Kind != yaml.ScalarNode {
		return fmt.Errorf("%s must be a single value", s.name)
	}
	return s.set(node.Value)
}

// parseDuration is time.ParseDuration, which knows no days and weeks, with these.
func parseDuration(text string) (time.Duration, error) {
	for unit, hours := range map[string]uint64{"d": 24, "w": 7 * 24} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.ParseUint(number, 10, 12)
			return time.Duration(n*hours) * time.Hour, err
		}
	}
	return time.ParseDuration(text)
}
