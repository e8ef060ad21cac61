package runtime

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/proxy"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// Errors of Harness beside upstream.ErrNotStarted.
var (
	ErrNoHarness    = errors.New("no harness: give --agent NAME or -- COMMAND")
	ErrUnknownAgent = errors.New("no agent is known by that name")
)

// Auto is the name of the agent that the setting default_agent names.
const Auto = "auto"

// ErrNoDefault says that nothing is meant by Auto.
var ErrNoDefault = errors.New("--agent auto starts default_agent, which is not set: " +
	"name one in the acp: section of agent.yaml, or in SIGNET_ACP_DEFAULT_AGENT")

// Harness finds the profile and the command line of the harness to start: by name, by a command, or by both. A command
// that begins with -- is arguments for the named harness.
func Harness(c *config.Config, name string, command []string, o *upstream.Options) (upstream.Profile, error) {
	if name == Auto && len(command) == 0 {
		if name = c.DefaultAgent; name == "" {
			return upstream.Profile{}, ErrNoDefault
		}
	}
	profile, known := c.Profile(name)
	onlyArgs := len(command) > 0 && command[0] == "--"
	switch {
	case onlyArgs && !known:
		return profile, ErrUnknownAgent
	case onlyArgs:
		o.Command = append(profile.CommandHere(), command[1:]...)
	case len(command) > 0:
		o.Command = command
		if !known {
			profile = c.ProfileBy(command, name)
		}
	case name == "":
		return profile, ErrNoHarness
	case !known:
		return profile, ErrUnknownAgent
	}
	if err := profile.Prepare(context.Background(), o); err != nil {
		return profile, err
	}
	if profile.Name == "" {
		profile.Name = filepath.Base(o.Command[0])
	}
	return profile, nil
}

// acpxCompat returns what acpx would do for this harness if it recognised it behind us.
func acpxCompat(p upstream.Profile) proxy.Compat {
	sources := p.SettingSources
	if len(sources) > 0 && strings.TrimSpace(os.Getenv("ACPX_CLAUDE_INCLUDE_USER_SETTINGS")) == "1" {
		sources = append([]string{"user"}, sources...)
	}
	return proxy.Compat{ClientInfo: p.ClientInfo, ClientMeta: p.ClientMeta, Answers: p.Answers, SettingSources: sources}
}

// placement returns where the identity goes for a harness: into the first prompt, or into its system prompt.
func placement(setting string, p upstream.Profile) proxy.Placement {
	return proxy.Placement{System: setting == "system" || setting == "auto" && p.SystemPrompt, Meta: p.MetaSystemPrompt}
}
