package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/delegation/bounds"
	"github.com/Signet-AI/signet-acp-proxy/proxy"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// Errors of Harness beside upstream.ErrNotStarted.
var (
	ErrNoHarness    = errors.New("no agent: pass --agent NAME or -- COMMAND")
	errUnknownAgent = errors.New("unknown agent")
)

// auto is the name of the agent that the setting default_agent names.
const auto = "auto"

// ErrNoDefault says that nothing is meant by auto.
var ErrNoDefault = errors.New("--agent auto starts default_agent, which is not set; " +
	"set it in the acp: section of agent.yaml or as SIGNET_ACP_DEFAULT_AGENT")

// Harness finds the profile and the command line of the harness to start: by name, by a command, or by both. A command
// that begins with -- is arguments for the named harness. called is what it is started as: its profile's name where the
// person has not named it.
func Harness(
	c *config.Config, name string, command []string, o *upstream.Options,
) (profile upstream.Profile, called string, err error) {
	if called = name; name == auto {
		called = ""
		if len(command) == 0 {
			name = c.DefaultAgent
		}
		if name == "" {
			return profile, "", ErrNoDefault
		}
	}
	profile, known := c.Profile(name)
	onlyArgs := len(command) > 0 && command[0] == "--"
	switch {
	case onlyArgs && !known:
		return profile, "", errUnknownAgent
	case onlyArgs:
		o.Command = append(profile.CommandHere(), command[1:]...)
	case len(command) > 0:
		o.Command = command
		if !known {
			profile = c.ProfileBy(command, name)
		}
	case name == "":
		return profile, "", ErrNoHarness
	case !known:
		return profile, "", errUnknownAgent
	}
	if err := profile.Prepare(context.Background(), o); err != nil {
		return profile, "", err
	}
	if profile.Name == "" {
		profile.Name = filepath.Base(o.Command[0])
	}
	return profile, cmp.Or(called, profile.Name), nil
}

// acpxCompat returns what acpx would do for this harness if it recognised it behind us.
func acpxCompat(p upstream.Profile) proxy.Compat {
	sources := p.SettingSources
	if len(sources) > 0 && strings.TrimSpace(os.Getenv("ACPX_CLAUDE_INCLUDE_USER_SETTINGS")) == "1" {
		sources = append([]string{"user"}, sources...)
	}
	return proxy.Compat{ClientInfo: p.ClientInfo, ClientMeta: p.ClientMeta, Answers: p.Answers, SettingSources: sources}
}

// traits are what is known of a harness, which gets the memory tools or not, with the setting placement.
func traits(p upstream.Profile, tools bool, placement string) session.Traits {
	return session.Traits{
		KeepsFailed: p.KeepsFailedPrompt, Cancelled: session.Cancelled(p.Cancelled), KeptAfter: p.KeptAfter,
		SaysActive: p.SaysActive, KeepsMessages: p.KeepsMessages, MessageIDs: p.MessageIDs,
		CompactCommands: p.CompactCommands, SaysSummary: p.SaysSummary, TitleLength: p.TitleLength,
		Tools: tools, AsksForTools: p.AsksForTools, UnaskedModes: p.UnaskedModes,
		InSystem: placement == "system" || placement == "auto" && p.SystemPrompt, MetaSystem: p.MetaSystemPrompt,
	}
}

// Bind has the harness run in the bounds that the runner of a delegation gave us; without such it changes nothing.
// release must be called when the harness has ended.
func Bind(c *config.Config, profile upstream.Profile, name string, o *upstream.Options) (release func(), err error) {
	place, ok, err := bounds.Take()
	if !ok || err != nil {
		return func() {}, err
	}
	if err := o.Fetch(context.Background()); err != nil {
		return nil, err
	}
	path, err := exec.LookPath(o.Command[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, err
	}
	release = func() { _ = place.Forget(profile) } // the runner removes the whole folder
	rules, env, err := place.Prepare(profile, path, o.Command, environment(o.Env), c.Agent(name).Env,
		closedTo(c))
	if err == nil {
		o.Command, o.Env, err = rules.Around(path, o.Command, env)
	}
	if err != nil {
		release()
		return nil, fmt.Errorf("bounding it: %w", err)
	}
	o.OwnGuard, o.Apart = true, true
	c.Pipes = rules.State
	return release, nil
}

// closedTo are the folders that no child reaches, but for its own below them.
func closedTo(c *config.Config) []string { return []string{c.SignetPath, c.Dir()} }

// readable are the files and folders that a person lets children read.
func readable(c *config.Config) []string {
	var all []string
	for _, name := range c.DelegationRead {
		if path, err := config.Folder(name); err == nil {
			all = append(all, path)
		}
	}
	return all
}

// boundsOf says what keeps an agent to its folder.
func boundsOf(profile upstream.Profile) string {
	switch {
	case bounds.Check() == nil:
		return delegation.BySystem
	case goruntime.GOOS == "linux": // what it promises itself keeps nobody from the user's sockets
		return delegation.ByNothing
	case profile.Sandbox:
		return delegation.ByItself
	case profile.ReadMode != "":
		return delegation.ByMode
	}
	return delegation.ByNothing
}
