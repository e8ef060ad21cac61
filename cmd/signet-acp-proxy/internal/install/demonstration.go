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
		s.done("memory works here. This was shown with a toy of ours, not with an agent. One session was told: %q; "+
			"the next was given: %s", statement, shown.given)
	}
	s.say("From now on what you and agents say is recorded in %s, on this machine only. "+
		"signet-acp-proxy sessions lists it, signet-acp-proxy forget SESSION removes it, and memory: off in %s turns "+
		"it off.", runtime.HomeShort(s.Config.DB), runtime.HomeShort(filepath.Join(s.Config.SignetPath, "agent.yaml")))
	s.plain()
	s.say("Next: write into %s who the agent is, and into USER.md who you are.",
		runtime.HomeShort(filepath.Join(s.Config.SignetPath, "IDENTITY.md")))
	return s.begin()
}

// plain says that an agent's own terminal program does not go through us, and what does.
func (s Steps) plain() {
	for _, name := range []string{"claude", "codex"} {
		if clients.OnPath(name) {
			s.say("Plain %s in a terminal gets no memory by itself, because it does not go through us. A client does. "+
				"Or give it the memory tools: %[1]s mcp add signet -- signet-acp-proxy mcp. And "+
				"signet-acp-proxy config set backfill auto takes in what it writes down.", name)
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
		s.skip("%s is there: with signet-acp-proxy init --yes the proof is with it", name)
		return false
	case !s.Yes && !s.Std.Ask("try it with %s? It is asked two short questions, under your login", name):
		return false
	}
	shown, err := s.try(ctx, name, trialAgent{Name: name, Command: command})
	if err != nil {
		s.skip("%s did not take part: %v", name, err)
		return false
	}
	s.done("it remembered. In one session with %s: %q; the next was told: %s", name, statement, shown.given)
	s.line(" ", "%q, and %s answered: %s", question, name,
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
