package runtime

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/delegation/bounds"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

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
	o.OwnGuard = true
	c.MCPCommand = nil // there it would lack its files and its token; our own tools need neither
	return release, nil
}

// closedTo are the folders that no child reaches, but for its own below them.
func closedTo(c *config.Config) []string { return []string{c.SignetPath, c.Dir()} }

// boundsOf says what keeps an agent to its folder.
func boundsOf(profile upstream.Profile) string {
	switch {
	case bounds.Check() == nil:
		return delegation.BySystem
	case profile.Sandbox:
		return delegation.ByItself
	case profile.ReadMode != "":
		return delegation.ByMode
	}
	return delegation.ByNothing
}
