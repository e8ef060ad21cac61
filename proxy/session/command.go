package session

import (
	"slices"
	"strings"
	"unicode"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// SlashCommand gives the command that a prompt's text is, or "". It is one
// where the harness advertised the word, or where it looks like one and no
// path: `/home/x is broken` is none (docs/facts/harnesses.md: no placement of an
// extra block survives every harness's parsing of commands).
func (c *Connection) SlashCommand(s *Session, text string) string {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
	for _, prefix := range c.o.Commands {
		word, ok := strings.CutPrefix(text, prefix)
		if !ok {
			continue
		}
		if i := strings.IndexFunc(word, unicode.IsSpace); i >= 0 {
			word = word[:i]
		}
		if word != "" && (c.advertised(s, word) || !strings.Contains(word, "/")) {
			return word
		}
	}
	return ""
}

// advertised reports whether the harness named a command, with or without the sign in front of it.
func (c *Connection) advertised(s *Session, word string) bool {
	return s.commands[word] ||
		slices.ContainsFunc(c.o.Commands, func(prefix string) bool { return s.commands[prefix+word] })
}

// Obeyed makes a session lose what it was given once a turn has come to its end whose prompt was a command that makes
// the harness forget: one of the usual words, if it advertises it, or one that it is known for.
func (c *Connection) Obeyed(t *Turn) {
	if t.Command == "" || t.stop != StopEnd {
		return
	}
	advertised := c.advertised(t.Session, t.Command)
	switch {
	case advertised && slices.Contains(clearCommands, t.Command):
		c.Lose(t.Session, correlation.Cleared)
	case advertised && slices.Contains(compactCommands, t.Command),
		slices.Contains(c.Traits().CompactCommands, t.Command):
		c.Lose(t.Session, correlation.Compacted)
	}
}

// The commands that make a harness forget, as harnesses name them.
var (
	clearCommands   = []string{"clear", "new", "reset"}
	compactCommands = []string{"compact", "compress", "summarize"}
)
