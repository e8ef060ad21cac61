package session

import (
	"slices"
	"strings"
	"unicode"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// slashCommand returns the name of the slash command that a prompt's text begins with, or "". It is a command if the
// harness advertised the word, or if the word holds no second slash: `/home/x is broken` is none. Nothing may be put in
// front of a command (docs/facts/harnesses.md: no placement of an extra block survives every harness's parsing).
func (c *Connection) slashCommand(s *Session, text string) string {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
	word, ok := strings.CutPrefix(text, "/")
	if i := strings.IndexFunc(word, unicode.IsSpace); i >= 0 {
		word = word[:i]
	}
	if !ok || !c.advertised(s, word) && strings.Contains(word, "/") {
		return ""
	}
	return word
}

// advertised reports whether the harness named a command, with or without its slash.
func (c *Connection) advertised(s *Session, word string) bool {
	return s.exists.commands[word] || s.exists.commands["/"+word]
}

// commandEnded looks at a turn that has ended: if its prompt was a command that clears or compacts the conversation,
// the harness has lost the context that was inserted. Such a command is one of the usual words, if the harness
// advertises it, or one that its profile names.
func (c *Connection) commandEnded(t *Turn) {
	if t.command == "" || t.stop != StopEnd {
		return
	}
	advertised := c.advertised(t.Session, t.command)
	switch {
	case advertised && slices.Contains(clearCommands, t.command):
		c.contextLost(t.Session, correlation.Cleared)
	case advertised && slices.Contains(compactCommands, t.command),
		slices.Contains(c.traits.CompactCommands, t.command):
		c.contextLost(t.Session, correlation.Compacted)
	}
}

// The usual names of the commands that clear and that compact a conversation.
var (
	clearCommands   = []string{"clear", "new", "reset"}
	compactCommands = []string{"compact", "compress", "summarize"}
)
