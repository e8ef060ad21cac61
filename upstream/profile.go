package upstream

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
)

// A Profile is what is known of a harness. A harness from a person's configuration is a Profile too: the zero value of
// every field but Command is right for a harness that nobody knows.
type Profile struct {
	Name    string
	Title   string   // for people
	Command []string // as acpx starts it, but with the newest version of a package
	// Installed is the command of the same harness if it is installed. Prepare prefers it to Command when it is on
	// PATH, because npx takes a second and needs the network.
	Installed []string
	Agents    []string // its agentInfo.name in lower case, if not Name or its package's name
	Install   string   // what to do when it is missing

	Grace    time.Duration // see Options
	MinGrace time.Duration

	MCP               string // which MCP servers it takes: MCPStdio (also ""), MCPHTTP or MCPNone
	KeepsFailedPrompt bool   // whether a failed prompt stays in its history all the same
	Cancelled         string // what it keeps of a cancelled prompt: CancelledKept and so on; "" is not known
	// KeptAfter is how long after it took a prompt up a cancel is sure to find it kept, with CancelledBegun; 0: never.
	KeptAfter        time.Duration
	SaysActive       bool     // it says when it takes a prompt up; else that counts from when the prompt leaves
	KeepsMessages    int      // tokens of the user's newest messages that a compaction keeps; or allMessages
	MessageIDs       bool     // its answers have a messageId; message chunks without one are notices
	CompactCommands  []string // commands that make it compact, though it does not advertise them
	SaysSummary      bool     // it compacts in the middle of a turn, and says the summary as a message of its own
	TitleLength      int      // UTF-16 units of a first prompt that it makes its title from; 0: all
	AsksForTools     bool     // asks for permission for each MCP call
	UnaskedModes     []string // the modes (session/set_mode) in which it does not
	OpeningMode      string   // the mode that it opens a session in; "" is not known
	ReadMode         string   // the mode (session/set_mode) in which it changes no files; "": none
	SystemPrompt     bool     // takes session/new's systemPrompt, if it advertises that
	MetaSystemPrompt bool     // takes its _meta.systemPrompt too, but not both
	Sandbox          bool     // it keeps its own tools to the work tree, in its other modes too
	TokensAddUp      bool     // the tokens in a prompt's result are totals of its process so far
	CostStartsAnew   bool     // the cost that it reports is a total of its process, not of the session
	// CheapModels are parts of the names of its cheapest models, all of one provider.
	CheapModels []string

	// Homes are where it keeps its state, and Variables those of its provider, keys among them: what it needs of the
	// user's where its rights are bounded. A variable that ends in * stands for all that begin so.
	Homes     []Home
	Variables []string
	// Bounded are variables, NAME=VALUE, that it gets there in place of ReadMode: its own sandbox does not work inside
	// another one, and is left out.
	Bounded []string

	// ClientInfo replaces initialize's clientInfo, and ClientMeta's members are added to clientCapabilities._meta. Both
	// are JSON objects; nil changes nothing. acpx answers requests with the methods in Answers with {}.
	ClientInfo json.RawMessage
	ClientMeta json.RawMessage
	Answers    []string
	// SettingSources is what acpx sends with session/new as _meta.claudeCode.options.settingSources, with "user" in
	// front if ACPX_CLAUDE_INCLUDE_USER_SETTINGS=1. It is added for acpx if acpx sent none; other clients mean what
	// they send.
	SettingSources []string
}

// A Home is a folder in which a harness keeps its state.
type Home struct {
	Variable string   // names the folder; "": none does
	Folder   string   // where it is without the variable, below HOME
	Login    []string // the files in it that hold its login
}

// allMessages is KeepsMessages of a harness whose compaction keeps all that the user said.
const allMessages = math.MaxInt

// What a harness keeps of a prompt whose turn was cancelled.
const (
	CancelledKept   = "kept"
	CancelledBegun  = "kept once begun" // once it shows that it works on it; before, now and then not
	CancelledForgot = "forgotten"
)

// Which MCP servers a harness takes from its client.
const (
	MCPStdio = "stdio"
	MCPHTTP  = "http"
	MCPNone  = "none"
)

// Asks reports whether the harness asks for permission for each MCP call in a mode; "" is not known.
func (p Profile) Asks(mode string) bool {
	return p.AsksForTools && !slices.Contains(p.UnaskedModes, mode)
}

// program returns the name of the harness's own program: "claude-agent-acp", "gemini".
func (p Profile) program() string {
	if len(p.Installed) > 0 {
		return p.Installed[0]
	}
	if p.packageName() != "" {
		return p.packageName()
	}
	return p.Command[0]
}

// packageName returns the package that Command runs with npx or uvx, without its version; "" for a program.
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

// inArgument reports whether an argument names the harness's package in any version, a path inside of it, or its
// adapter (acpx recognises Claude by claude-agent-acp anywhere in the arguments).
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

// programName returns a command's base name in lower case, without Windows' extensions.
func programName(command string) string {
	name := strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:])
	for _, ending := range []string{".cmd", ".exe", ".bat"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}
