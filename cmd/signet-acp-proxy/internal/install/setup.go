// Package install sets the program up on a machine and removes it again: the Signet folder with templates, entries in
// clients' files, what was recorded. Existing files stay as they are, and a person is asked.
package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/clients"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// Steps are the steps of init and uninstall.
type Steps struct {
	Config *config.Config
	Std    term.Streams
	Yes    bool // nobody is asked
	DryRun bool // only say what would be done
}

// SetUp makes the Signet folder and its templates, and adds entries to the clients that are found.
func (s Steps) SetUp() error {
	if len(clients.Found()) == 0 {
		s.say("No client was found. A client is the program in which you talk to agents, such as acpx for the "+
			"terminal or the agent panel of Zed, VS Code or a JetBrains IDE. Install one and run signet-acp-proxy "+
			"init again. The quickest: %s.", clients.WithoutClient(s.Config))
		fmt.Fprintln(s.Std.Out)
	}
	if err := s.folder(); err != nil {
		return err
	}
	return s.clients()
}

// folder makes the Signet folder and the templates in it.
func (s Steps) folder() error {
	dir := memory.HomeShort(s.Config.SignetPath)
	_, err := os.Stat(s.Config.SignetPath)
	switch {
	case err == nil:
		s.skip("%s already exists", dir)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case s.DryRun:
		s.would("make %s", dir)
	default:
		if err := os.MkdirAll(s.Config.SignetPath, 0o700); err != nil {
			return err
		}
		s.done("%s made; only you can read it", dir)
	}
	for _, t := range templates {
		switch _, err := os.Lstat(filepath.Join(s.Config.SignetPath, t.Name)); {
		case !errors.Is(err, fs.ErrNotExist):
			s.skip("%s already exists", t.Name)
		case s.DryRun:
			s.would("write %s: %s", t.Name, t.About)
		default:
			if err := t.write(s.Config); err != nil {
				return err
			}
			s.done("%s template created: %s", t.Name, t.About)
		}
	}
	return nil
}

// sayAgents says which agents are here, and which of them cannot be started yet.
func (s Steps) sayAgents(harnesses []string) {
	if len(harnesses) > 0 {
		s.done("agents on this machine: %s", strings.Join(harnesses, ", "))
		for _, name := range harnesses {
			profile, _ := s.Config.Profile(name)
			if err := profile.Startable(); err != nil {
				why := strings.TrimPrefix(err.Error(), upstream.ErrNotStarted.Error()+": ")
				s.skip("%s cannot be started yet: %s", name, why)
			}
		}
	} else {
		s.skip("no agent found on PATH (Claude Code, Codex, …); install one and run signet-acp-proxy init again%s",
			clients.ByNPX())
	}
}

// clients adds entries for the installed harnesses to the clients that are found.
func (s Steps) clients() error {
	found, harnesses := clients.Found(), clients.Installed(s.Config)
	s.sayAgents(harnesses)
	for _, name := range found {
		file, err := clients.Open(name)
		if err != nil {
			return err
		}
		if len(harnesses) == 0 {
			s.skip("%s: no agent to add; later: signet-acp-proxy setup %s NAME", name, name)
			continue
		}
		done, err := file.PutIn(s.Config, harnesses)
		if err != nil {
			return err
		}
		var added []string
		for _, one := range done {
			if one.Result == clients.Added {
				added = append(added, one.Name)
			}
		}
		names, path := strings.Join(added, ", "), memory.HomeShort(file.Path)
		switch {
		case len(added) == 0:
			s.skip("%s is set up already", name)
		case s.DryRun:
			s.would("add %s to %s", names, path)
		case !s.Yes && !s.Std.Interactive():
			s.skip("%s: to add %s to %s, run signet-acp-proxy init --yes", name, names, path)
		case !s.Yes && !s.Std.Ask("add %s to %s?", names, path):
			s.skip("%s: left as it is; later: signet-acp-proxy setup %[1]s", name)
		default:
			if err := file.Save(); err != nil {
				return err
			}
			s.done("%s: %s added to %s", file.Title, names, path)
		}
	}
	return nil
}

// done says that something was done.
func (s Steps) done(format string, args ...any) {
	s.line(term.On(s.Std.Out).Paint(term.Green, "✓"), format, args...)
}

// say prints a paragraph.
func (s Steps) say(format string, args ...any) {
	screen := term.On(s.Std.Out)
	text := term.ToType(chars.Printable(fmt.Sprintf(format, args...)))
	fmt.Fprintf(screen.W, "\n%s\n", term.Wrap(text, screen.Width, 0))
}

func (s Steps) skip(format string, args ...any)  { s.line("·", format, args...) }
func (s Steps) would(format string, args ...any) { s.line("+", "would "+format, args...) }

func (s Steps) line(mark, format string, args ...any) {
	screen := term.On(s.Std.Out)
	text := term.ToType(chars.Printable(fmt.Sprintf(format, args...)))
	fmt.Fprintf(screen.W, "%s %s\n", mark, term.Wrap(text, screen.Width, 2))
}

// A template is a file that init writes: a comment that says what belongs there. Agents are not told comments.
type template struct{ Name, About, text string }

// templates are the identity files that a beginner needs.
var templates = []template{
	{"IDENTITY.md", "describe your agent", `<!--
Who the agent is: its name, what it is there for, how it speaks.
Every agent reads this at the beginning of a session, once something
stands here outside of this comment. For example:

You are Alto, the assistant for the heron project. You are brief.
-->
`},
	{"USER.md", "describe yourself", `<!--
Who you are, as far as an agent should know: your name, your work, the tools
that you like, what it must not do. For example:

I am Robin. I write Go in Helix, on Debian. Ask before you install anything.
-->
`},
	{"SOUL.md", "describe how it works", `<!--
How the agent should work: its values and habits. For example:

Tests first. Say what you did not check. No emoji.
-->
`},
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
