package backfill

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// A Conversation is what a harness has written down of one session.
type Conversation struct {
	Agent        string   // the harness: claude, codex, …
	ID           string   // its own id, which is the ACP sessionId where ACP was spoken
	Cwd          string   // "" where the harness does not say
	OtherFolders []string // further folders that it is about
	File         string   // the path that it was read from
	Part         int      // a long conversation comes in parts, numbered from 0, in order
	Turns        []Turn
}

const (
	maxPart = 4 << 20 // bytes of text, after which the turns so far make a part
	maxSide = 1 << 20 // bytes of one side of a turn; the rest of it is dropped
)

// A Turn is what the user said and what the agent answered.
type Turn struct {
	User           string
	Assistant      string    // with chars.ToolMark where it called tools
	Tools          []Tool    // where the harness's format is known to tell them
	Started, Ended time.Time // zero where the harness does not say
	From           string    // the conversation that it was copied from, where the harness says so
}

// A builder makes turns of what is said, given to it in the order of the file.
type builder struct {
	Conversation
	from   string          // the conversation that what is said now was copied from
	size   int             // bytes of what was said since the last part
	beside map[string]bool // by conversation: whether it has a file of its own beside this one
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

// takePart gives the turns so far, without the last, which may go on, once they are large enough for a part. So a file
// of gigabytes is never held in memory as a whole.
func (b *builder) takePart() (c Conversation, full bool) {
	n := len(b.Turns) - 1
	if b.size < maxPart || n < 1 || b.ID == "" {
		return c, false
	}
	c = b.Conversation
	c.Turns = b.Turns[:n:n]
	b.Turns, b.size = []Turn{b.Turns[n]}, 0
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

// user takes what the user said: a new turn, or more of the last one where nothing was answered yet.
func (b *builder) user(text string, at time.Time) {
	text = userWords(text)
	if text == "" {
		return
	}
	text = chars.Cut(text, maxSide)
	b.size += len(text)
	if n := len(b.Turns); n > 0 && b.Turns[n-1].Assistant == "" && b.Turns[n-1].From == b.from {
		if last := &b.Turns[n-1]; last.User != text && len(last.User) < maxSide { // some harnesses write it twice
			last.User += "\n\n" + text
		}
		return
	}
	b.Turns = append(b.Turns, Turn{User: text, Started: at, Ended: at, From: b.from})
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

// block matches a context block of ours at the start of a prompt.
var block = pattern.New(`(?s)^\s*<signet-memory source="acp-proxy".*?</signet-memory>\s*`)

// harnessPrefixes are how texts begin that a harness writes itself and files under the user's name.
var harnessPrefixes = []string{
	"<environment_context>", "<user_instructions>", "<session_context>", "<system-reminder>",
	"<command-name>", "<command-message>", "<local-command-", "<skills_instructions>", "<permissions instructions>",
	"# AGENTS.md instructions", "Caveat: The messages below",
}

// userWords gives a text without our block; of a text that the harness wrote nothing.
func userWords(text string) string {
	text = strings.TrimSpace(block().ReplaceAllString(text, ""))
	for _, prefix := range harnessPrefixes {
		if strings.HasPrefix(text, prefix) {
			return ""
		}
	}
	return text
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
	}
	if json.Unmarshal(b, &blocks) != nil {
		return nil
	}
	for _, block := range blocks {
		switch strings.ToLower(block.Type) {
		case "", "text", "input_text", "output_text":
			if block.Text != "" && block.Thought == nil {
				*c = append(*c, piece{text: block.Text})
			}
		case "tool_use":
			call := toolCall(block.Name, string(block.Input))
			*c = append(*c, piece{call: &call})
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
