package backfill

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

// A builder makes turns of what is said, given to it in the order of the file.
type builder struct {
	Conversation
	yield  func(Conversation) error // takes the parts of a long conversation; nil: it has one
	err    error                    // of yield; nothing is taken after it
	from   string                   // the conversation that what is said now was copied from
	size   int                      // bytes of what was said since the last part
	calls  map[string]int           // of the last turn, by the harness's ids: their places among its tools
	beside map[string]bool          // by conversation: whether it has a file of its own beside this one

	children []*builder // subagents whose lines stand in the same file, in the order of their first ones
	byKey    map[string]*builder
	chains   map[string]string // the first line of the sidechain that a line is of, by its id
}

// child returns the conversation of a subagent, by what tells it from others of this conversation.
func (b *builder) child(key string) *builder {
	if b.byKey[key] == nil {
		if b.byKey == nil {
			b.byKey = map[string]*builder{}
		}
		one := &builder{Conversation: Conversation{ID: b.ID + "/" + key, Parent: b.ID, Cwd: b.Cwd, File: b.File}}
		b.byKey[key], b.children = one, append(b.children, one)
	}
	return b.byKey[key]
}

// leave counts a message that is not taken.
func (b *builder) leave(what string) {
	if b.LeftOut == nil {
		b.LeftOut = map[string]int{}
	}
	b.LeftOut[what]++
}

// end yields what is left: the conversation, and those of its subagents.
func (b *builder) end() error {
	b.part(b.Conversation)
	for _, one := range b.children {
		b.part(one.Conversation)
	}
	return b.err
}

// part yields a part, unless one before it failed.
func (b *builder) part(c Conversation) {
	if b.err == nil {
		b.err = b.yield(c)
	}
}

// hasFile reports whether another conversation, "" for none, has a file of its own beside this one.
func (b *builder) hasFile(id string) bool {
	there, known := b.beside[id]
	if id == "" || id != filepath.Base(id) || known {
		return there
	}
	info, err := os.Lstat(filepath.Join(filepath.Dir(b.File), id+filepath.Ext(b.File)))
	there = err == nil && info.Mode().IsRegular()
	if b.beside == nil {
		b.beside = map[string]bool{}
	}
	b.beside[id] = there
	return there
}

// addFolders notes folders that a conversation is about; "" is none.
func (b *builder) addFolders(folders ...string) {
	for _, folder := range folders {
		switch {
		case b.Cwd == "":
			b.Cwd = folder
		case folder != "":
			b.OtherFolders = append(b.OtherFolders, folder)
		}
	}
}

// say takes a message of either side, or a compaction's summary, and of no other.
func (b *builder) say(role string, said content, at time.Time) {
	switch role {
	case "user":
		for _, p := range said {
			if p.result != nil {
				b.ended(p.result.ToolUseID, p.result.Content.join(), p.result.IsError)
			}
		}
		b.user(said.prompt(), at)
	case "assistant":
		b.answered(said, at)
	case "compaction":
		b.note(summary)
	}
}

// answered takes a message of the agent, in which it may have called tools.
func (b *builder) answered(c content, at time.Time) {
	for len(c) > 0 {
		n := slices.IndexFunc(c, func(p piece) bool { return p.call != nil })
		if n < 0 {
			n = len(c)
		}
		if b.assistant(c[:n].join(), at); n == len(c) {
			return
		}
		b.tool(*c[n].call)
		b.called(c[n].id)
		c = c[n+1:]
	}
}

// user takes a message of the user's: a new turn, or more of the last one where nothing was answered yet. What the
// harness has put into it is noted with the turn that it interrupts.
func (b *builder) user(text string, at time.Time) {
	words, found := userWords(text)
	for _, what := range found {
		b.note(what)
	}
	command, typed := slashCommand(words)
	if command != "" {
		words = typed
	}
	if words == "" {
		return
	}
	words = chars.Cut(words, maxSide)
	if n := len(b.Turns); n > 0 && b.Turns[n-1].isOpen() && b.Turns[n-1].From == b.from && command == "" {
		last := &b.Turns[n-1]
		switch {
		case last.Command != "": // the harness has done it by itself
			b.leave(localCommand)
			b.Turns = b.Turns[:n-1]
		case last.User == words: // some harnesses write it twice
			return
		case len(last.User) < maxSide:
			last.User += "\n\n" + words
			b.size += len(words)
			return
		default:
			return
		}
	}
	b.startPart()
	b.size += len(words)
	b.calls = nil
	b.Turns = append(b.Turns, Turn{User: words, Command: command, Started: at, Ended: at, From: b.from})
}

// startPart yields the turns so far, once they are large enough for a part: a file of gigabytes is never held in memory
// as a whole.
func (b *builder) startPart() {
	if b.yield == nil || b.size < maxPart || len(b.Turns) == 0 || b.ID == "" {
		return
	}
	b.part(b.Conversation)
	b.Turns, b.size, b.LeftOut = nil, 0, nil
	b.Part++
}

// note takes what the harness has put into a message by itself.
func (b *builder) note(what string) {
	b.leave(what)
	n := len(b.Turns)
	if n == 0 {
		return
	}
	last := &b.Turns[n-1]
	if what == interruption {
		last.Stop = "cancelled"
	}
	if len(last.Notes) < maxTools {
		last.Notes = append(last.Notes, what)
	}
}

// assistant takes what the agent said, which belongs to the last turn.
func (b *builder) assistant(text string, at time.Time) {
	text = strings.TrimSpace(text)
	n := len(b.Turns)
	if text == "" || n == 0 {
		return
	}
	text = chars.Cut(text, maxSide)
	b.size += len(text)
	last := &b.Turns[n-1]
	switch {
	case last.Assistant == "":
		last.Assistant = text
	case strings.HasSuffix(strings.TrimSuffix(last.Assistant, chars.ToolMark), text): // written twice
	case len(last.Assistant) >= maxSide:
	default:
		last.Assistant += "\n\n" + text
	}
	if !at.IsZero() {
		last.Ended = at
	}
}

// tool takes that the agent called a tool.
func (b *builder) tool(call Tool) {
	n := len(b.Turns)
	if n == 0 || call.Title == "" {
		return
	}
	last := &b.Turns[n-1]
	if last.Assistant != "" && !strings.HasSuffix(last.Assistant, chars.ToolMark) {
		last.Assistant += chars.ToolMark
	}
	at := slices.IndexFunc(last.Tools, func(t Tool) bool { return t.Kind == planKind })
	if call.Kind == planKind && at >= 0 {
		last.Tools[at] = call // the last plan counts
		return
	}
	if len(last.Tools) < maxTools {
		last.Tools = append(last.Tools, call)
	}
}

// called notes the id of the last call that was taken.
func (b *builder) called(id string) {
	if n := len(b.Turns); n > 0 && id != "" {
		if b.calls == nil {
			b.calls = map[string]int{}
		}
		b.calls[id] = len(b.Turns[n-1].Tools) - 1
	}
}

// ended notes how a call of the last turn ended: a command with the code that its output names.
func (b *builder) ended(id, output string, failed bool) {
	i, known := b.calls[id]
	if !known || i < 0 {
		return
	}
	call := &b.Turns[len(b.Turns)-1].Tools[i]
	if call.Failed = failed; call.Kind == "execute" {
		call.Exit = chars.ExitCode(output)
	}
}
