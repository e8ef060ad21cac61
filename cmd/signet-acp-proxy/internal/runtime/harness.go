package runtime

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// Errors of Harness beside upstream.ErrNotStarted.
var (
	ErrNoHarness    = errors.New("no harness: give --agent NAME or -- COMMAND")
	ErrUnknownAgent = errors.New("no agent is known by that name")
)

// Harness finds the profile and the command line of the harness to start: by name, by a command, or by both. A command
// that begins with -- is arguments for the named harness.
func Harness(c *config.Config, name string, command []string, o *upstream.Options) (upstream.Profile, error) {
	profile, known := c.Profile(name)
	own := len(command) > 0 && command[0] == "--"
	switch {
	case own && !known:
		return profile, ErrUnknownAgent
	case own: // its command line comes from the profile
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
	if own {
		o.Command = append(o.Command, command[1:]...)
	}
	if profile.Name == "" {
		profile.Name = filepath.Base(o.Command[0])
	}
	return profile, nil
}
