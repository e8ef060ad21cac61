package backfill

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

// A Conversation is what a harness has written down of one session.
type Conversation struct {
	Agent        string   // the harness: claude, codex, …
	ID           string   // its own id, which is the ACP sessionId where ACP was spoken
	Cwd          string   // "" where the harness does not say
	OtherFolders []string // further folders that it is about
	File         string   // the path that it was read from
	Parent       string   // the conversation whose agent has started it as a subagent; nobody: nobody says which
	Part         int      // a long conversation comes in parts, numbered from 0, in order
	Turns        []Turn
	LeftOut      map[string]int // messages by what they are: no one's words
}

const (
	maxPart = 4 << 20 // bytes of text, after which the turns so far make a part
	maxSide = 1 << 20 // bytes of one side of a turn; the rest of it is dropped
)

// A Turn is what the user said and what the agent answered.
type Turn struct {
	User           string
	Assistant      string // with chars.ToolMark where it called tools
	Tools          []Tool
	Stop           string    // ACP's stopReason; "" for a turn that came to its end
	Command        string    // the slash command that it is
	Notes          []string  // what the harness has put in by itself
	Started, Ended time.Time // zero where the harness does not say
	From           string    // the conversation that it was copied from, where the harness says so
}

// isOpen reports whether nothing was done about it yet.
func (t Turn) isOpen() bool { return t.Assistant == "" && len(t.Tools) == 0 && t.Stop == "" }

// A builder makes turns of what is said, given to it in the order of the file.
type builder struct {
	Conversation
	from   string          // the conversation that what is said now was copied from
	size   int             // bytes of what was said since the last part
	beside map[string]bool // by conversation: whether it has a file of its own beside this one

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

// nobody stands for a Parent that the harness does not name: it has started the subagent by itself.
const nobody = "nobody"

// HasParent reports whether it is a subagent's, and of a session that is named.
func (c Conversation) HasParent() (child, named bool) { return c.Parent != "", c.Parent != nobody }

// leave counts a message that is not taken.
func (b *builder) leave(what string) {
	if b.LeftOut == nil {
		b.LeftOut = map[string]int{}
	}
	b.LeftOut[what]++
}

// copied is what stands in the file of the conversation that it was branched from as well.
const copied = "copy of another conversation"

// yieldAll returns what is left: the conversation, and those of its subagents.
func (b *builder) yieldAll(yield func(Conversation) error) error {
	err := yield(b.Conversation)
	for _, one := range b.children {
		if err == nil {
			err = yield(one.Conversation)
		}
	}
	return err
}

// setFolders notes the folders that a conversation is about.
func (b *builder) setFolders(folders []string) {
	if len(folders) > 0 {
		b.Cwd, b.OtherFolders = folders[0], folders[1:]
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

// addFolder notes one more folder that a conversation is about; "" is none.
func (b *builder) addFolder(folder string) {
	switch {
	case b.Cwd == "":
		b.Cwd = folder
	case folder != "":
		b.OtherFolders = append(b.OtherFolders, folder)
	}
}

// say takes a message of either side, and of no other.
func (b *builder) say(role string, said content, at time.Time) {
	switch role {
	case "user":
		b.user(said.join(), at)
	case "assistant":
		b.answered(said, at)
	}
}

// takePart returns the turns so far, without the last, which may go on, once they are large enough for a part. So a
// file of gigabytes is never held in memory as a whole.
func (b *builder) takePart() (c Conversation, full bool) {
	n := len(b.Turns) - 1
	if b.size < maxPart || n < 1 || b.ID == "" {
		return c, false
	}
	c = b.Conversation
	c.Turns = b.Turns[:n:n]
	b.Turns, b.size, b.LeftOut = []Turn{b.Turns[n]}, 0, nil
	b.Part++
	return c, true
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
	b.size += len(words)
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
			return
		default:
			return
		}
	}
	b.Turns = append(b.Turns, Turn{User: words, Command: command, Started: at, Ended: at, From: b.from})
}

const localCommand = "command that no agent answered"

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

// A content is what a message consists of. In JSON it is a string, or a list of blocks of which texts are taken, and
// that a tool was called.
type content []piece

// A piece of a message is a text, or a tool that was called.
type piece struct {
	text string
	call *Tool
}

// UnmarshalJSON takes either form. Of any other it takes nothing, and gives no error: the line's other fields count.
func (c *content) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*c = content{{text: text}}
		return nil
	}
	var blocks []struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Thought json.RawMessage `json:"thought"`
		Name    string          `json:"name"`
		Input   json.RawMessage `json:"input"`
		// of pi's calls
		Arguments json.RawMessage `json:"arguments"`
		// qwen's, as the Gemini API has them
		Call *struct {
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
		// newer versions of Roo's
		Tool string `json:"toolName"`
		// Goose's
		Request struct {
			Value struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"value"`
		} `json:"toolCall"`
	}
	if json.Unmarshal(b, &blocks) != nil {
		return nil
	}
	for _, block := range blocks {
		kind := strings.ToLower(block.Type)
		switch {
		case block.Call != nil:
			call := toolCall(block.Call.Name, string(block.Call.Args))
			*c = append(*c, piece{call: &call})
		case kind == "tool_use", kind == "toolcall", kind == "tool-call", kind == "toolrequest":
			call := toolCall(cmp.Or(block.Name, block.Tool, block.Request.Value.Name),
				cmp.Or(string(block.Input), string(block.Arguments), string(block.Request.Value.Arguments)))
			*c = append(*c, piece{call: &call})
		case kind == "" || kind == "text" || kind == "input_text" || kind == "output_text":
			if block.Text != "" && block.Thought == nil {
				*c = append(*c, piece{text: block.Text})
			}
		}
	}
	return nil
}

// join makes one text of all, without our block, which is a text of its own.
func (c content) join() string {
	var own []string
	for _, p := range c {
		if text := strings.TrimSpace(block().ReplaceAllString(p.text, "")); text != "" {
			own = append(own, text)
		}
	}
	return strings.Join(own, "\n\n")
}
