package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
)

// A template is a file that init writes: a comment that says what belongs there. Agents are not told comments.
type template struct{ Name, About, text string }

// templates are the identity files that a beginner needs.
var templates = []template{
	{"IDENTITY.md", "who the agent is", `<!--
Who the agent is: its name, what it is there for, how it speaks.
Every agent reads this at the beginning of a session, once something
stands here outside of this comment. For example:

You are Alto, the assistant for the heron project. You are brief.
-->
`},
	{"USER.md", "who you are", `<!--
Who you are, as far as an agent should know: your name, your work, the tools
that you like, what it must not do. For example:

I am Robin. I write Go in Helix, on Debian. Ask before you install anything.
-->
`},
	{"SOUL.md", "how the agent works", `<!--
How the agent should work: its values and habits. For example:

Tests first. Say what you did not check. No emoji.
-->
`},
}

// missing reports whether the file is not there yet.
func (t template) missing(c *config.Config) bool {
	_, err := os.Lstat(filepath.Join(c.SignetPath, t.Name))
	return errors.Is(err, fs.ErrNotExist)
}

// write writes the file, if it is missing.
func (t template) write(c *config.Config) error {
	f, err := os.OpenFile(filepath.Join(c.SignetPath, t.Name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("writing %s: %w", t.Name, err)
	}
	_, err = f.WriteString(t.text)
	return errors.Join(err, f.Close())
}
