// Package config reads what a person has set: flags, environment and the acp: section of agent.yaml. It reads, and
// changes nothing.
package config

import (
	"errors"
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
	DB              string        `yaml:"db" help:"the database (acp/sessions.db in the Signet folder)"`
	LogLevel        string        `yaml:"log_level" default:"info" enum:"trace,debug,info,warn,error,disabled" help:"how much is logged"`
	LogFile         string        `yaml:"log_file" help:"log here in place of acp/log/proxy.log; - is stderr"`
	Hold            time.Duration `yaml:"hold" default:"1.5s" help:"how long a prompt may wait for its context"`
	DatabaseWait    time.Duration `yaml:"database_wait" default:"100ms" help:"and how long for a database that another program has locked: half of it at most"`
	Fetch           time.Duration `yaml:"fetch" default:"15s" help:"how long the daemon may take to give a context; also SIGNET_SESSION_START_TIMEOUT"`
	ContextAge      time.Duration `yaml:"context_age" default:"15m" help:"how long an unused context is good for the next process"`
	PerPrompt       bool          `yaml:"per_prompt" default:"false" help:"recall for later prompts too"`
	Presence        bool          `yaml:"presence" default:"false" help:"tell the daemon of every prompt, beside the conversation"`
	Announce        string        `yaml:"announce" default:"off" enum:"off,on,notice" help:"on: tell the client each session's Signet key, as _meta[\"signet.ai\"].sessionKey of the result that opens it; notice: tell it after the first prompt what that got, where it takes notices"`
	Reinject        string        `yaml:"reinject" default:"identity" enum:"never,identity,all" help:"what goes in again after the harness compacted the conversation"`
	Continue        bool          `yaml:"continue" default:"on" help:"where a session cannot be loaded and a new one takes its place, tell that one what was said earlier"`
	SlashPrefixes   []string      `yaml:"slash_prefixes" default:"/" help:"what a slash command begins with"`
	ToolHint        string        `yaml:"tool_hint" default:"auto" enum:"auto,always,never" help:"whether the context names the memory tool"`
	MCP             string        `yaml:"mcp" default:"auto" enum:"auto,off,stdio,http" help:"how harnesses get the memory tools; auto is what suits each"`
	MCPCommand      CommandLine   `yaml:"mcp_command" help:"an MCP server in place of ours while the daemon is there, such as signet-mcp"`
	Hooks           string        `yaml:"hooks" default:"disabled" enum:"disabled,inherit,enabled" help:"the harness's own Signet hooks"`
	Nested          string        `yaml:"nested" default:"off" enum:"off,inject" help:"what an agent that a proxied agent calls gets: nothing, or memory like its own, as the child of that session"`
	Delegation      bool          `yaml:"delegation" default:"off" help:"let agents ask one another for work: the tools delegate and its kin, and the command"`
	DelegationAsk   bool          `yaml:"delegation_ask" default:"off" help:"ask you, in the client of the session that delegates and while its turn runs, what an agent may that was asked and is not allowed to by delegation_allow"`
	DelegationAllow []string      `yaml:"delegation_allow" help:"what an agent that was asked may do, in its own folder, besides reading and editing: execute, fetch"`
	DelegationSetup []string      `yaml:"delegation_setup" help:"commands that are run in its folder, in its bounds, before an agent that was asked works there: npm ci"`
	DelegationCopy  []string      `yaml:"delegation_copy" help:"what it gets although git ignores it, as in .gitignore: node_modules, .env.test"`
	DelegationDisk  Size          `yaml:"delegation_disk" default:"2GB" help:"how much it may write; 0 is no limit"`
	Unbounded       bool          `yaml:"delegation_unbounded" default:"off" help:"ask agents also where neither the system nor they themselves keep them to their folder"`
	Placement       string        `yaml:"placement" default:"prompt" enum:"prompt,system,auto" help:"where identity goes: the first prompt; the system prompt where a harness takes one; auto where it is known to heed it"`
	Exclude         []string      `yaml:"exclude" help:"globs of folders that are left alone"`
	Retention       time.Duration `yaml:"retention" default:"365d" help:"how long turns are kept, from when they were said or imported; 0 keeps none that owes nothing"`
	OtherProjects   bool          `yaml:"other_projects" default:"false" help:"recall from other projects too"`
	Personal        bool          `yaml:"personal" default:"on" help:"tell what you like (\"I prefer short answers\") in all projects; off: in that where you said it"`
	Backfill        string        `yaml:"backfill" default:"off" enum:"off,auto" help:"auto: at each start, behind the first prompt, take in what agents have written outside of the proxy"`
	AgentID         string        `yaml:"agent_id" help:"the Signet agent"`
	DefaultAgent    string        `yaml:"default_agent" help:"the agent that --agent auto starts"`

	OnSessionEnd      CommandLine   `yaml:"on_session_end" help:"a command, as a list with its arguments or as words, that is run after a session with JSON on stdin"`
	OnSessionEndLimit time.Duration `yaml:"on_session_end_limit" default:"1m" help:"how long it may run"`
	DeliverAtExit     time.Duration `yaml:"deliver_at_exit" default:"0s" help:"deliver before we exit, for this long at most: for containers, which nothing outlives"`

	// Agents are the sections of single harnesses, by canonical name.
	Agents map[string]AgentConfig `yaml:"-"`

	// SignetPath is not read from the file, which lies in that folder.
	SignetPath string `yaml:"-" env:"SIGNET_PATH" help:"identity files, configuration and database (~/.agents)"`

	// IdentityFiles are those that a session begins with where no daemon answers, as Signet's own settings name them;
	// nil: the usual ones.
	IdentityFiles []string `yaml:"-"`

	// DaemonConfigured says that a person named the daemon, which then need not prove that it is ours.

	DaemonConfigured bool `yaml:"-"`

	sources map[string]string // where each value came from
}

// ErrNoFolder says that there is no folder for memories. The configuration that comes with it has memory off.
var ErrNoFolder = errors.New("no memory: there is no folder for it; set HOME or SIGNET_PATH")

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
