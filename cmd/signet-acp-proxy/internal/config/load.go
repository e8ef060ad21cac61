package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Load returns the configuration. If it has mistakes, the error names them all, and the configuration has the defaults
// in their places, because the relay must start.
func Load(f Flags) (*Config, error) {
	c := &Config{sources: map[string]string{}}
	var mistakes []error
	mistake := func(err error) {
		if err != nil {
			mistakes = append(mistakes, err)
		}
	}
	for _, s := range SettingsOf(c) {
		if s.Default != "" {
			mistake(s.set(s.Default))
		}
		c.sources[s.Name] = "default"
	}
	if err := c.locate(f, memory.Home); err != nil {
		// Nothing is read from or written to the working directory instead.
		c.Memory, c.sources["memory"] = "off", "no folder to keep it in"
		return c, err
	}
	mistake(c.readTrusted(filepath.Join(c.SignetPath, "agent.yaml")))
	mistake(c.readEnvironment())
	if err := c.readFlags(f); err != nil {
		return c, err
	}
	c.fetchLikeSignet()
	if name := os.Getenv("SIGNET_AGENT_ID"); c.AgentID == "" && name != "" { // as in every plugin of Signet's
		c.AgentID, c.sources["agent_id"] = name, "SIGNET_AGENT_ID"
	}
	mistake(c.trustHook())
	c.findDaemon()
	if c.DB == "" {
		c.DB = filepath.Join(c.SignetPath, "acp", "sessions.db")
	}
	return c, errors.Join(mistakes...)
}

// readEnvironment reads the variables.
func (c *Config) readEnvironment() error {
	for _, name := range slices.Sorted(maps.Keys(retired)) {
		if v := variable(name); os.Getenv(v) != "" {
			c.warnRetired(v, name)
		}
	}
	var mistakes []error
	for _, s := range SettingsOf(c) {
		v := os.Getenv(s.Env)
		if v == "" {
			continue
		}
		if err := s.set(v); err != nil {
			mistakes = append(mistakes, configError{file: s.Env, err: err})
			continue
		}
		c.sources[s.Name] = s.Env
	}
	return errors.Join(mistakes...)
}

func (c *Config) readFlags(f Flags) error {
	for name, v := range map[string]string{"memory": f.Memory, "daemon_url": f.DaemonURL, "db": f.DB,
		"log_level": f.LogLevel, "log_file": f.LogFile} {
		if v == "" {
			continue
		}
		flag := "--" + strings.ReplaceAll(name, "_", "-")
		s, _ := find(SettingsOf(c), name)
		if err := s.set(v); err != nil {
			return FlagError{flag, err}
		}
		c.sources[name] = flag
	}
	return nil
}

// findDaemon sets the daemon's address. A daemon that a person named is trusted; the default one has to prove that it
// is ours.
func (c *Config) findDaemon() {
	if c.DaemonURL == "" {
		if c.DaemonURL = os.Getenv("SIGNET_DAEMON_URL"); c.DaemonURL != "" {
			c.sources["daemon_url"] = "SIGNET_DAEMON_URL"
		}
	}
	c.DaemonConfigured = c.DaemonURL != ""
	c.DaemonExpected = c.DaemonConfigured || os.Getenv("SIGNET_HOST") != "" || os.Getenv("SIGNET_PORT") != ""
	if c.DaemonConfigured {
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

// fetchLimit is how long the daemon's context may take, unless Signet's own variables say otherwise.
const fetchLimit = 15 * time.Second

// fetchLikeSignet takes the limit from the variables of Signet's own clients, in milliseconds, if they would accept it.
func (c *Config) fetchLikeSignet() {
	c.Fetch = fetchLimit
	for _, name := range []string{"SIGNET_SESSION_START_TIMEOUT", "SIGNET_FETCH_TIMEOUT"} {
		ms, err := strconv.Atoi(os.Getenv(name))
		if limit := time.Duration(ms) * time.Millisecond; err == nil && limit >= time.Second && limit <= 2*time.Minute {
			c.Fetch = limit
			return
		}
	}
}

// Folder returns the absolute path of a folder that a person names; in --cwd=~/x the shell leaves the ~ to us.
func Folder(name string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "~"+string(filepath.Separator)); ok || name == "~" {
		home, err := memory.Home()
		if err != nil {
			return "", fmt.Errorf("finding the home folder: %w", err)
		}
		name = filepath.Join(home, rest)
	}
	return filepath.Abs(name)
}

// Token returns the secret for the daemon from the environment, "" for none.
func Token() string {
	for _, name := range TokenVariables {
		if token := os.Getenv(name); token != "" {
			return token
		}
	}
	return ""
}

// TokenVariables are the environment variables for it, the same as for Signet's own clients.
var TokenVariables = []string{"SIGNET_API_KEY", "SIGNET_TOKEN"}
