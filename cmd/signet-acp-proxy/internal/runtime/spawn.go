package runtime

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
)

// configured says of a process of this configuration what decides whether it owes a daemon anything.
func configured(c *config.Config) correlation.ProcessInfo {
	info := correlation.ProcessInfo{SignetPath: c.SignetPath, Memory: c.Memory}
	if c.DaemonConfigured {
		info.URL = c.DaemonURL
	}
	if c.DaemonExpected && c.Memory == "auto" {
		info.Memory = "daemon" // it is owed from the first turn, also if it has never answered
	}
	return info
}

// spawn says how a relay starts a command of ours that outlives it: with our environment but without the token, which a
// worker reads from its stdin. A daemon that a flag names goes into the environment: as a flag it would take precedence
// over the one that a row is owed to.
func spawn(c *config.Config, command ...string) delivery.Spawn {
	s := delivery.Spawn{
		Args: append(command, flagsBesideDaemon(c)...),
		Dir:  c.Dir(),
		Pass: delivery.Credential{Token: config.Token()},
	}
	if c.DaemonConfigured {
		s.Pass.URL = c.DaemonURL
	}
	s.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(config.TokenVariables, name)
	})
	if c.Source("daemon_url") == "--daemon-url" {
		s.Env = append(s.Env, "SIGNET_ACP_DAEMON_URL="+c.DaemonURL)
	}
	return s
}

// flagsBesideDaemon returns the flags by which another process of ours gets the same configuration, but for the daemon.
func flagsBesideDaemon(c *config.Config) []string {
	flags := []string{"--db", absolute(c.DB), "--signet-path", c.SignetPath, "--memory", c.Memory, "--log-level",
		c.LogLevel}
	if c.LogFile != "" && c.LogFile != "-" {
		flags = append(flags, "--log-file", absolute(c.LogFile))
	}
	return flags
}

// absolute makes a path independent of the working directory.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// ownFlags returns the flags by which another process of ours gets the same configuration.
func ownFlags(c *config.Config) []string {
	flags := flagsBesideDaemon(c)
	if c.Source("daemon_url") == "--daemon-url" {
		flags = append(flags, "--daemon-url", c.DaemonURL)
	}
	return flags
}
