package backfill

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// A mark is how a text begins that a harness writes by itself and files under the user's name.
type mark struct {
	agent string // that was seen to write it; "" for several
	start string
	what  string
}

// What such a text is.
const (
	notification = "notification"
	interruption = "interruption"
	shellCommand = "shell command of the user"
	output       = "output of a command"
	openFile     = "state of an editor"
	message      = "message of another agent"
	instruction  = "instructions of the harness"
	summary      = "summary of a compaction"
)

// marks are all that is known. An element (<tag>…</tag>) is taken out of the beginning and the end of a message; what
// begins with any other mark is no one's words as a whole.
var marks = []mark{
	{"claude", "<task-notification>", notification},
	{"claude", "<agent-notification>", notification},
	{"claude", "[SYSTEM NOTIFICATION", notification},
	{"claude", "[Request interrupted by user", interruption},
	{"codex", "<turn_aborted>", interruption},
	{"claude", "<bash-input>", shellCommand},
	{"codex", "<user_shell_command>", shellCommand},
	{"claude", "<bash-stdout>", output},
	{"claude", "<bash-stderr>", output},
	{"claude", "<local-command-", output},
	{"claude", "Caveat: The messages below", output},
	{"claude", "<ide_opened_file>", openFile},
	{"claude", "<ide_selection>", openFile},
	{"claude", "<ide_diagnostics>", openFile},
	{"codex", "<in-app-browser-context", openFile},
	{"cline", "<environment_details>", openFile},
	{"claude", "<teammate-message", message},
	{"claude", "<cross-session-message", message},
	{"codex", "<subagent_notification>", message},
	{"", "<system-reminder>", instruction},
	{"", "<environment_context>", instruction},
	{"codex", "<user_instructions>", instruction},
	{"codex", "# AGENTS.md instructions", instruction},
	{"codex", "<INSTRUCTIONS>", instruction},
	{"codex", "<permissions instructions>", instruction},
	{"codex", "<skills_instructions>", instruction},
	{"codex", "<skill>", instruction},
	{"codex", "<collaboration_mode>", instruction},
	{"claude", "<user-prompt-submit-hook>", instruction},
	{"claude", "Stop hook feedback:", instruction},
	{"claude", "Base directory for this skill:", instruction},
	{"gemini", "<session_context>", instruction},
	{"gemini", "This is the Gemini CLI. We are setting up the context", instruction},
	{"goose", "<info-msg>", instruction},
	{"claude", "This session is being continued from a previous conversation", summary},
	{"gemini", "<state_snapshot>", summary},
	{"codex", "Another language model started to solve this problem", summary},
}

// markOf returns the mark that a text begins with.
func markOf(text string) (m mark, found bool) {
	for _, m := range marks {
		if strings.HasPrefix(text, m.start) {
			return m, true
		}
	}
	return m, false
}

// ourBlock matches a context block of ours at the start of a prompt.
var ourBlock = pattern.New(`(?s)^\s*<signet-memory source="acp-proxy".*?</signet-memory>\s*`)

// userWords returns what the user said in a message, and what the harness has put into it: neither has a block of ours.
func userWords(text string) (words string, found []string) {
	for {
		text = strings.TrimSpace(ourBlock().ReplaceAllString(text, ""))
		m, is := markOf(text)
		if !is {
			break
		}
		found = append(found, m.what)
		text = behindElement(text)
	}
	for strings.HasSuffix(text, ">") {
		start := strings.LastIndex(text, "\n<")
		m, is := markOf(text[start+1:])
		if start < 0 || !is || behindElement(text[start+1:]) != "" {
			break
		}
		found = append(found, m.what)
		text = strings.TrimSpace(text[:start])
	}
	return text, found
}

// behindElement returns what stands behind the element that a text begins with, "" where it begins with none.
func behindElement(text string) string {
	if text[0] != '<' {
		return ""
	}
	name := text[1:]
	if end := strings.IndexAny(name, " >\n"); end > 0 {
		name = name[:end]
	}
	_, rest, _ := strings.Cut(text, "</"+name+">")
	return rest
}

// slash matches a slash command as Claude Code files it, the name and the arguments in either order.
var (
	slashName = pattern.New(`^<command-(?:name|message)>(?s:.*)<command-name>\s*/?([^<]+?)\s*</command-name>|` +
		`^<command-name>\s*/?([^<]+?)\s*</command-name>`)
	slashArguments = pattern.New(`(?s)<command-args>(.*?)</command-args>`)
)

// slashCommand returns the name of the slash command that a message is, and the words that the user typed.
func slashCommand(text string) (name, words string) {
	if !strings.HasPrefix(text, "<command-") {
		return "", ""
	}
	found := slashName().FindStringSubmatch(text)
	if found == nil {
		return "", ""
	}
	name = found[1] + found[2]
	words = "/" + name
	if args := slashArguments().FindStringSubmatch(text); args != nil {
		words = strings.TrimSpace(words + " " + strings.TrimSpace(args[1]))
	}
	return name, words
}
