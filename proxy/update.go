package proxy

import (
	"fmt"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// A tappedUpdate is an update that is read after it was forwarded.
type tappedUpdate struct {
	kind        string
	session     *session.Session
	turn        *session.Turn // of a message chunk
	turnChanges uint64        // the conversation's when the turn was looked up
	id          string        // of commands and titles: of their session, which may still be without a name
}

// watchedUpdates says what an update matters for, and as which it is read once it was forwarded.
var watchedUpdates = map[string]struct {
	kind   session.Update
	tapped string
}{
	updateMessage:        {session.Words, updateMessage},
	updateAgent:          {session.Words, updateAgent},
	updateTool:           {session.Words, updateTool},
	updateToolMore:       {session.Words, updateTool},
	updatePlan:           {session.Words, updatePlan},
	updateUsage:          {session.Reports, updateUsage},
	updateMode:           {session.Reports, updateMode},
	updateConfig:         {session.Reports, updateConfig},
	updateThought:        {session.Thoughts, ""},
	updateCompact:        {session.Reports, updateCompact},
	updateSummary:        {session.Reports, updateSummary},
	updateCommands:       {session.Commands, updateCommands},
	updateInfo:           {session.Titles, updateInfo},
	updateUser:           {session.Ours, ""},
	updateUserMessage:    {session.Ours, ""},
	updateSessionMessage: {session.Ours, ""},
	updateSessionChunk:   {session.Ours, ""},
	updateSubagent:       {session.Ours, ""},
	updateState:          {session.Idles, ""}, // of version 2

	methodReadFile:  {session.Words, methodReadFile}, // requests to the client, which say what the agent does
	methodWriteFile: {session.Words, methodWriteFile},
}

// downNeeds says what must be known of a harness's frame, by its method, before it can be judged.
func downNeeds(method []byte) frame.Need {
	switch string(method) {
	case methodUpdate:
		return frame.NeedSession | frame.NeedUpdate
	case methodReadFile, methodWriteFile:
		return frame.NeedSession
	case "":
		return frame.NeedID // a response, perhaps to a request that is watched
	}
	return 0
}

// readUpdate reads an update that was forwarded, and returns what follows from it: tool calls, titles, usage, the
// commands that the harness advertises, its compactions; nil: nothing. A stream reads the agent's text. Thoughts, tool
// output and replayed turns are not kept. The frame may be thinned (frame.Thinner) where it was long.
func readUpdate(l tappedUpdate, line []byte) func(*session.Connection) {
	switch l.kind {
	case updateTool:
		return toolCall(l.session, line)
	case updatePlan:
		return plan(l.session, line)
	case methodReadFile, methodWriteFile:
		return fileRequest(l, line)
	case updateCommands:
		if list, ok := frame.Find(line, "params", "update", "availableCommands"); ok {
			names := commandNames(line, list)
			return func(c *session.Connection) { c.Advertised(l.id, names) }
		}
	case updateUsage:
		if u, ok := usageAt(byUpdate, line, "params", "update"); ok {
			return func(c *session.Connection) { c.Used(l.session, session.Usage{Usage: u, Window: true}) }
		}
	case updateMode:
		mode, _ := stringAt(line, "params", "update", "currentModeId")
		return func(c *session.Connection) { c.ModeSet(l.session, mode) }
	case updateConfig:
		return configuredMode(l.session, line)
	case updateInfo:
		return titleIn([]byte(l.id), line)
	case updateCompact:
		return compaction(l.session, line)
	case updateSummary:
		id, _ := stringAt(line, "params", "update", "compactionId")
		if text, ok := stringAt(line, "params", "update", "content", "text"); ok {
			return func(c *session.Connection) { c.SummaryCame(l.session, id, text) }
		}
	}
	return nil
}

func toolCall(s *session.Session, line []byte) func(*session.Connection) {
	at, ok := frame.Find(line, "params", "update")
	if !ok {
		return nil
	}
	update := at.Of(line)
	text := func(limit int, path ...string) string {
		value, _ := stringAt(update, path...)
		return chars.Cut(value, limit)
	}
	call := correlation.ToolCall{
		ID:    text(maxID, "toolCallId"),
		Title: text(2*maxTitle, "title"), // twice what is stored: a secret at this cut lies behind that
		Kind:  text(maxToolWord, "kind"), Status: text(maxToolWord, "status"),
	}
	for _, list := range []string{"locations", "content"} { // in which a diff has a path
		places, _ := frame.Find(update, list)
		for place := range frame.Elements(update, places) {
			path, ok := stringAt(place.Of(update), "path")
			if path = chars.Cut(path, 2*maxTitle); ok && len(call.Locations) < maxPlaces &&
				!slices.Contains(call.Locations, path) {
				call.Locations = append(call.Locations, path)
			}
		}
	}
	if call.Command = commandIn(update); call.Command == call.Title {
		call.Command = ""
	}
	call.Exit = exitIn(update)
	name, _ := stringAt(update, "_meta", "claudeCode", "toolName")
	return func(c *session.Connection) { c.ToolCalled(s, call, name == compactTool) }
}

// commandIn returns the command line that a tool runs: a string, or a list whose last one a shell gets.
func commandIn(update []byte) string {
	command, _ := stringAt(update, "rawInput", "command")
	if words, ok := frame.Find(update, "rawInput", "command"); ok && command == "" {
		for word := range frame.Elements(update, words) {
			if text, ok := frame.String(word.Of(update)); ok {
				command = text
			}
		}
	}
	return chars.Cut(command, 2*maxTitle)
}

// exitPlaces are where harnesses say how a command ended (docs/facts/harnesses.md, "Plans and commands").
var exitPlaces = [][]string{
	{"rawOutput", "exit_code"},              // codex
	{"rawOutput", "exitCode"},               // pi
	{"rawOutput", "metadata", "exit"},       // opencode
	{"_meta", "terminal_exit", "exit_code"}, // claude, to clients with terminals
}

// exitIn returns the exit status of a tool's command; nil: the update does not say.
func exitIn(update []byte) *int {
	for _, path := range exitPlaces {
		if n, ok := intAt(update, path...); ok {
			return &n
		}
	}
	if said, ok := stringAt(update, "rawOutput"); ok { // claude
		return chars.ExitCode(said)
	}
	return nil
}

// plan reads a plan: the steps that are not done, and how many there are.
func plan(s *session.Session, line []byte) func(*session.Connection) {
	entries, ok := frame.Find(line, "params", "update", "entries")
	if !ok {
		return nil
	}
	call := correlation.ToolCall{ID: correlation.PlanKind, Kind: correlation.PlanKind, Status: "completed"}
	all := 0
	for entry := range frame.Elements(line, entries) {
		all++
		if status, _ := stringAt(entry.Of(line), "status"); status != "completed" && len(call.Steps) < maxPlaces {
			step, _ := stringAt(entry.Of(line), "content")
			call.Steps = append(call.Steps, chars.Cut(step, maxTitle))
		}
	}
	call.Title = fmt.Sprintf("Plan of %d steps", all)
	return func(c *session.Connection) { c.ToolCalled(s, call, false) }
}

// fileRequest reads a request for a file of the client's, which is a tool call though no update may say so.
func fileRequest(l tappedUpdate, line []byte) func(*session.Connection) {
	path, ok := stringAt(line, "params", "path")
	if !ok {
		return nil
	}
	path = chars.Cut(path, 2*maxTitle)
	call := correlation.ToolCall{Title: "Read " + path, Kind: "read", Status: "completed", Locations: []string{path}}
	if l.kind == methodWriteFile {
		call.Title, call.Kind = "Write "+path, "edit"
	}
	call.ID = chars.Cut(call.Title, maxID)
	return func(c *session.Connection) { c.ToolCalled(l.session, call, false) }
}

// compactTool is the toolName of claude's compaction.
const compactTool = "compact"

// commandNames returns the names in a list of available commands.
func commandNames(line []byte, list frame.Span) map[string]bool {
	names := map[string]bool{}
	for command := range frame.Elements(line, list) {
		if name, ok := stringAt(command.Of(line), "name"); ok {
			names[name] = true
		}
	}
	return names
}

// compaction reads a compaction_update. Harnesses send it only to clients that asked for it.
func compaction(s *session.Session, line []byte) func(*session.Connection) {
	if len(line) == maxUpdate {
		line = frame.Mend(line)
	}
	id, _ := stringAt(line, "params", "update", "compactionId")
	status, _ := stringAt(line, "params", "update", "status")
	var whole []string
	if summary, ok := frame.Find(line, "params", "update", "summary"); ok {
		for block := range frame.Elements(line, summary) {
			if kind, text := blockOf(line, block); kind == "text" {
				whole = append(whole, text)
			}
		}
	}
	return func(c *session.Connection) { c.Compaction(s, id, status, whole) }
}

// titleIn reads a session's title, from which our block was taken out.
func titleIn(id, line []byte) func(*session.Connection) {
	title, _ := stringAt(line, "params", "update", "title")
	status, _ := stringAt(line, "params", "update", "_meta", "codex", "threadStatus", "type")
	return func(c *session.Connection) { c.Titled(id, chars.Cut(title, 2*maxTitle), status == "active") }
}

// configuredMode reads the mode among a session's options: claude says it there after session/set_mode.
func configuredMode(s *session.Session, line []byte) func(*session.Connection) {
	list, ok := frame.Find(line, "params", "update", "configOptions")
	if !ok {
		return nil
	}
	set := ""
	for option := range frame.Elements(line, list) {
		if id, _ := stringAt(option.Of(line), "id"); id == "mode" {
			if mode, ok := stringAt(option.Of(line), "currentValue"); ok {
				set = mode
			}
		}
	}
	return func(c *session.Connection) { c.ModeSet(s, set) }
}
