package upstream

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
)

// A Profile is what we know of a harness. A harness from a person's configuration is a Profile like any other: the
// zero value of every field but Command is what is right for a harness that nobody knows anything about.
type Profile struct {
	Name    string
	Title   string   // for people
	Command []string // how acpx starts it; of a package the newest
	// Installed is the same harness where it is installed: used by Prepare in place of Command, when on PATH, because
	// npx takes a second and needs the network.
	Installed []string
	Agents    []string // what it calls itself (agentInfo.name) in lower case, beside Name and its package's name
	Install   string   // what to do when it is missing

	Grace    time.Duration // see Options
	MinGrace time.Duration

	MCP               string   // how it takes a memory server: MCPStdio (also ""), MCPHTTP, MCPNone
	KeepsFailedPrompt bool     // a prompt that failed is in its history all the same
	KeepsMessages     int      // tokens of the user's newest messages that a compaction leaves; or AllMessages
	MessageIDs        bool     // its answers have a messageId, and notices that it sends as message chunks have none
	CompactCommands   []string // that make it compact, though it does not advertise them
	SaysSummary       bool     // it compacts in a turn without a sign but this: the summary is a message of its own
	TitleLength       int      // characters of a first prompt that it makes its title of; 0: all
	AsksForTools      bool     // asks permission for each MCP call
	ReadMode          string   // the mode (session/set_mode) in which it writes nothing
	SystemPrompt      bool     // takes session/new's systemPrompt, where it advertises that it does
	MetaSystemPrompt  bool     // takes its _meta.systemPrompt too, but not both
	TokensAddUp       bool     // the tokens of a prompt's result are those of its process so far
	CostStartsAnew    bool     // the cost that it reports is of its process, not of the session

	// ClientInfo is put in place of initialize's clientInfo, and ClientMeta's members into clientCapabilities._meta;
	// both JSON objects, nil: leave as they are. A request named in Answers, from a harness that got ClientMeta, is
	// answered by us with {}.
	ClientInfo json.RawMessage
	ClientMeta json.RawMessage
	Answers    []string
	// SettingSources is what acpx sends with session/new as _meta.claudeCode.options.settingSources, with "user" in
	// front where ACPX_CLAUDE_INCLUDE_USER_SETTINGS=1. It is for acpx where acpx sent none; other clients mean what
	// they send.
	SettingSources []string
}

// AllMessages is how much a harness keeps over a compaction that keeps all that the user said.
const AllMessages = math.MaxInt

// How a harness takes an MCP server from its client.
const (
	MCPStdio = "stdio"
	MCPHTTP  = "http"
	MCPNone  = "none"
)

// program returns the harness's own program: "claude-agent-acp", "gemini".
func (p Profile) program() string {
	if len(p.Installed) > 0 {
		return p.Installed[0]
	}
	if p.packageName() != "" {
		return p.packageName()
	}
	return p.Command[0]
}

// packageName returns the package that Command has npx or uvx run, without its version; "" where it runs a program.
func (p Profile) packageName() string {
	if p.Command[0] != "npx" && p.Command[0] != "uvx" {
		return ""
	}
	arg := p.Command[1+slices.IndexFunc(p.Command[1:], func(arg string) bool { return arg[0] != '-' })]
	if at := strings.LastIndexByte(arg, '@'); at > 0 {
		return arg[:at]
	}
	return arg
}

// inArgument reports whether an argument names the harness's package, in whatever version, or a path inside it, or its
// adapter (acpx takes claude-agent-acp anywhere in the arguments for Claude).
func (p Profile) inArgument(arg string) bool {
	if adapter := p.program(); strings.HasSuffix(adapter, "-acp") && strings.Contains(arg, adapter) {
		return true
	}
	name := p.packageName()
	if name == "" {
		return false
	}
	rest, ok := strings.CutPrefix(arg, name)
	return ok && (rest == "" || rest[0] == '@') ||
		strings.Contains(strings.ReplaceAll(arg, `\`, "/"), "node_modules/"+name+"/")
}

// programName returns a command's base name in lower case without Windows' endings.
func programName(command string) string {
	name := strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:])
	for _, ending := range []string{".cmd", ".exe", ".bat"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// clone keeps callers from changing the registry.
func (p Profile) clone() Profile {
	p.Command = slices.Clone(p.Command)
	p.Installed = slices.Clone(p.Installed)
	p.Agents = slices.Clone(p.Agents)
	p.CompactCommands = slices.Clone(p.CompactCommands)
	p.SettingSources = slices.Clone(p.SettingSources)
	return p
}
