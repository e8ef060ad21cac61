// Package config reads what a person has set: flags, environment and the acp: section of agent.yaml. It reads, and
// changes nothing.
package config

import (
	"path/filepath"
	"time"
)

// Flags are the settings that every command takes.
type Flags struct{ Memory, DaemonURL, SignetPath, DB, LogLevel, LogFile string }

// A FlagError says that a flag's value is not valid.
type FlagError struct {
	Flag string
	Err  error
}

func (e FlagError) Error() string { return e.Flag + ": " + e.Err.Error() }
func (e FlagError) Unwrap() error { return e.Err }

// Config is every setting. A setting's value comes from the flag, else from
// the environment (SIGNET_ACP_ and its name in capitals), else from the acp:
// section of agent.yaml, else it is the default that its tag names.
type Config struct {
	Memory          string        `yaml:"memory" default:"auto" enum:"auto,daemon,embedded,off" help:"where context comes from"`
	DaemonURL       string        `yaml:"daemon_url" help:"the Signet daemon; also SIGNET_DAEMON_URL, SIGNET_HOST and SIGNET_PORT (127.0.0.1:3850)"`
	DaemonPlain     bool          `yaml:"daemon_plain" default:"off" help:"use plain http to a daemon on another machine, which others on the network can read"`
	DB              string        `yaml:"db" help:"the database (acp/sessions.db in the Signet folder)"`
	LogLevel        string        `yaml:"log_level" default:"info" enum:"trace,debug,info,warn,error,disabled" help:"how much is logged"`
	LogFile         string        `yaml:"log_file" help:"log here in place of acp/log/proxy.log; - is stderr"`
	Hold            time.Duration `yaml:"hold" default:"1.5s" help:"how long a prompt may wait for context"`
	Presence        bool          `yaml:"presence" default:"false" help:"report each prompt to the daemon, in the background"`
	Announce        string        `yaml:"announce" default:"off" enum:"off,on,notice" help:"on: send the client each session's Signet key, as _meta[\"signet.ai\"].sessionKey of the result that opens it; notice: send it a notice after the first prompt about the added context, if it takes notices"`
	Continue        bool          `yaml:"continue" default:"on" help:"when a new session replaces one that cannot be loaded, give it the end of the old one"`
	MCP             string        `yaml:"mcp" default:"auto" enum:"auto,off,stdio,http" help:"how agents get the memory tools; auto picks what suits each"`
	Hooks           string        `yaml:"hooks" default:"disabled" enum:"disabled,inherit,enabled" help:"the agent's own Signet hooks"`
	Nested          string        `yaml:"nested" default:"off" enum:"off,inject" help:"whether an agent started by another agent gets memory, as a child of that session"`
	Delegation      bool          `yaml:"delegation" default:"off" help:"let agents delegate tasks, with the delegate tools and command"`
	DelegationAsk   bool          `yaml:"delegation_ask" default:"off" help:"ask you in the delegating session's client, during its turn, before a delegated agent does what delegation_allow does not permit"`
	DelegationAllow []string      `yaml:"delegation_allow" help:"what a delegated agent may do in its own folder besides reading and editing: execute, fetch"`
	DelegationSetup []string      `yaml:"delegation_setup" help:"commands that run in a delegated agent's folder, in its bounds, before it works there: npm ci"`
	DelegationCheck string        `yaml:"delegation_check" help:"a command that runs in a delegated agent's folder, in its bounds, when it has made changes: npm test"`
	DelegationCopy  []string      `yaml:"delegation_copy" help:"ignored files that a delegated agent gets, as in .gitignore: node_modules, .env.test"`
	DelegationDisk  byteSize      `yaml:"delegation_disk" default:"2GB" help:"how much a delegated agent may write; 0 is no limit"`
	DelegationMem   byteSize      `yaml:"delegation_memory" default:"8GB" help:"how much memory each process of a delegated agent may have; 0 is no limit"`
	DelegationRead  []string      `yaml:"delegation_read" help:"other files and folders that a delegated agent may read and run: ~/tools"`
	Unbounded       bool          `yaml:"delegation_unbounded" default:"off" help:"delegate even to agents that cannot be confined to their folder"`
	Placement       string        `yaml:"placement" default:"prompt" enum:"prompt,system,auto" help:"where identity goes: the first prompt; the system prompt, if the agent takes one; auto: the system prompt if the agent is known to follow it"`
	Exclude         []string      `yaml:"exclude" help:"globs of folders without memory"`
	Retention       time.Duration `yaml:"retention" default:"365d" help:"how long turns are kept; 0: until delivered"`
	OtherProjects   bool          `yaml:"other_projects" default:"false" help:"recall from other projects, too"`
	Personal        bool          `yaml:"personal" default:"on" help:"use your preferences (\"I prefer short answers\") in all projects; off: only in their own"`
	Backfill        string        `yaml:"backfill" default:"off" enum:"off,auto" help:"auto: after the first prompt of each start, import what agents wrote outside the proxy"`
	Notes           string        `yaml:"notes" default:"off" enum:"off,agent" help:"agent: after a session, ask its agent once, in bounds, to note what was decided and found; this uses its account"`
	NotesLimit      int           `yaml:"notes_limit" default:"20" help:"how many sessions are noted in 24 hours, each with at most 12,000 tokens of input"`
	NotesModel      string        `yaml:"notes_model" help:"the model for notes, or a part of its name, where the agent offers it; else its cheapest that we know"`
	NotesToDaemon   bool          `yaml:"notes_to_daemon" default:"off" help:"also send notes to the Signet daemon"`
	AgentID         string        `yaml:"agent_id" help:"the Signet agent"`
	DefaultAgent    string        `yaml:"default_agent" help:"the agent that --agent auto starts"`

	OnSessionEnd  commandLine   `yaml:"on_session_end" help:"a command to run after a session, with JSON on stdin; a list or a line of words"`
	DeliverAtExit time.Duration `yaml:"deliver_at_exit" default:"0s" help:"deliver before exiting, for at most this long; for containers"`

	// Fetch is how long the daemon's context may take, as Signet's own clients have it.
	Fetch time.Duration `yaml:"-"`

	// Agents are the sections of single harnesses, by canonical name.
	Agents map[string]AgentConfig `yaml:"-"`

	// SignetPath is not read from the file, which lies in that folder.
	SignetPath string `yaml:"-" env:"SIGNET_PATH" help:"identity files, configuration and database (~/.agents)"`

	// IdentityFiles are those that a session begins with where no daemon answers, as Signet's own settings name them;
	// nil: the usual ones.
	IdentityFiles []string `yaml:"-"`

	// DaemonConfigured says that a person named the daemon, which then need not prove that it is ours.
	DaemonConfigured bool `yaml:"-"`
	// DaemonExpected says that a person named its address, host or port: it is owed from the first turn.
	DaemonExpected bool `yaml:"-"`

	// Warnings name what the file and the environment still set, and what has replaced it.
	Warnings []string `yaml:"-"`

	// Pipes is the folder for the memory tools' named pipes, where the agent is in bounds and reaches no socket.
	Pipes string `yaml:"-"`

	sources map[string]string // where each value came from
}

// Dir is the absolute path of the database's folder.
func (c *Config) Dir() string {
	dir := filepath.Dir(c.DB)
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// LiveDir is the folder with the lock files of living processes.
func (c *Config) LiveDir() string { return filepath.Join(filepath.Dir(c.DB), "live") }

// Source says where a setting's value came from: a flag, a variable, a line of the file, or "default".
func (c *Config) Source(setting string) string { return c.sources[setting] }
