package install

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/clients"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// Demonstrate shows that what is said in one session is remembered in the next, and says what to do next. The sessions
// are with an installed harness, if the person agrees, because its model is asked under the person's login; else, or if
// that fails, with a small agent of ours.
func (s Steps) Demonstrate(ctx context.Context) error {
	if !s.demonstrateWithHarness(ctx) {
		shown, err := s.try(ctx, "a small agent of ours", trialAgent{})
		if err != nil {
			return fmt.Errorf("trying it out: %w; signet-acp-proxy doctor looks for the cause", err)
		}
		s.done("memory works here, tried with a small built-in agent that repeats what it is told. One session was "+
			"told: %q; the next was given: %s", statement, shown.given)
	}
	s.say("From now on, what you and your agents say is stored in %s, on this machine only. To list it: "+
		"signet-acp-proxy sessions. To remove a conversation: signet-acp-proxy forget SESSION. To turn it off: "+
		"memory: off in %s.",
		runtime.HomeShort(s.Config.DB), runtime.HomeShort(filepath.Join(s.Config.SignetPath, "agent.yaml")))
	s.plain()
	s.say("Next: write into %s who the agent is, and into USER.md who you are.",
		runtime.HomeShort(filepath.Join(s.Config.SignetPath, "IDENTITY.md")))
	return s.begin()
}

// plain says that an agent's own terminal program does not go through us, and what does.
func (s Steps) plain() {
	for _, name := range []string{"claude", "codex"} {
		if clients.OnPath(name) {
			s.say("If you start %s by itself in a terminal, it has no memory yet: only clients go through this "+
				"program. To give it the memory tools: %[1]s mcp add signet -- signet-acp-proxy mcp. To also take in "+
				"the conversations that it stores: signet-acp-proxy config set backfill auto.", name)
			return
		}
	}
}

// begin names the one thing to do now: a command to type, or where to click.
func (s Steps) begin() error {
	for _, name := range clients.Found() {
		file, err := clients.Open(name)
		if err != nil {
			return err
		}
		entries, err := file.Entries()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(entries, func(e clients.Entry) bool { return e.Ours() })
		if i < 0 {
			continue
		}
		if name != "acpx" {
			s.say("Now: in %s choose %s for a new conversation (%s).", file.Title, entries[i].Name, file.Reload)
			return nil
		}
		acpx := "acpx"
		if !clients.OnPath(acpx) {
			acpx = "npx -y acpx"
		}
		s.say("Now type:")
		fmt.Fprintf(s.Std.Out, "  %s %s exec \"What do you know about me?\"\n", acpx, entries[i].Name)
		return nil
	}
	return nil
}

// demonstrateWithHarness demonstrates with an installed harness, and reports whether it could.
func (s Steps) demonstrateWithHarness(ctx context.Context) bool {
	name, command, there := clients.Ready(s.Config)
	switch {
	case !there:
		return false
	case !s.Yes && !s.Std.Interactive():
		s.skip("to try it with %s: signet-acp-proxy init --yes", name)
		return false
	case !s.Yes && !s.Std.Ask("try it with %s? It is asked two short questions, under your login", name):
		return false
	}
	shown, err := s.try(ctx, name, trialAgent{Name: name, Command: command})
	if err != nil {
		s.skip("trying it with %s failed: %v", name, err)
		return false
	}
	s.done("it remembered. One session with %s was told: %q; the next was given: %s", name, statement, shown.given)
	s.line(" ", "asked %q, %s answered: %s", question, name,
		term.Cut(strings.Join(strings.Fields(shown.answer), " "), 200))
	return true
}

// try runs the two sessions, and shows progress.
func (s Steps) try(ctx context.Context, with string, a trialAgent) (proof, error) {
	progress := term.NewProgress(s.Std.Err)
	progress.Step("two sessions with " + with)
	defer progress.Done()
	return remembers(ctx, a)
}
