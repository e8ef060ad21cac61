package install

import (
	"context"
	"fmt"
	"path/filepath"
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
		s.done("it remembered. In one session: %q; in the next the agent was told: %s", statement, shown.given)
	}
	s.say("From now on what you and agents say is recorded in %s, on this machine only. "+
		"signet-acp-proxy sessions lists it, signet-acp-proxy forget SESSION removes it, and memory: off in %s turns "+
		"it off.", runtime.HomeShort(s.Config.DB), runtime.HomeShort(filepath.Join(s.Config.SignetPath, "agent.yaml")))
	s.say("Next: write into %s who the agent is, and into USER.md who you are.",
		runtime.HomeShort(filepath.Join(s.Config.SignetPath, "IDENTITY.md")))
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
