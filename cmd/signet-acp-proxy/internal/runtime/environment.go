package runtime

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
)

// The variables by which a Signet program knows who started it.
const (
	hooksVariable  = "SIGNET_NO_HOOKS"
	bypassVariable = "SIGNET_BYPASS"
	// parentVariable is what a proxy inside ours finds its parent by: our name
	// as a process, for a harness is started once and may hold many sessions, and
	// which of them calls is known only when it does. A Signet key will do too.
	parentVariable = "SIGNET_ACP_PARENT"
)

// Bypassed reports whether we are to do nothing. SIGNET_NO_HOOKS=1 is
// Signet's own, which must not be fed its own work, or a proxy's around us: that
// one says who it is, and a person may want memory for the agents that agents call.
func Bypassed(c *config.Config) bool {
	if os.Getenv(bypassVariable) == "1" {
		return true
	}
	if os.Getenv(parentVariable) != "" {
		return c.Nested != "inject"
	}
	return os.Getenv(hooksVariable) == "1"
}

// WithHooks says in the harness's environment, ours if env is nil, what its own
// Signet hooks are to do: they would inject a second time.
func WithHooks(env []string, hooks string) []string {
	switch hooks {
	case "inherit":
		return environment(env)
	case "enabled":
		return without(environment(env), hooksVariable)
	}
	return append(without(environment(env), hooksVariable), hooksVariable+"=1")
}

// WithParent says in the harness's environment who we are.
func WithParent(env []string, process string) []string {
	return append(without(environment(env), parentVariable), parentVariable+"="+process)
}

func environment(env []string) []string {
	if env == nil {
		return os.Environ()
	}
	return env
}

// without gives a copy of an environment in which a variable is not set.
func without(env []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, name+"=") })
}

// parentOfSessions finds the Signet key of the session that our sessions work for; nil when nobody says that there is
// one.
func parentOfSessions(store *correlation.Store, log zerolog.Logger) func(ctx context.Context, cwd string) string {
	parent := os.Getenv(parentVariable)
	if parent == "" {
		// who was delegated to has memory, whatever agents get that others call
		parent = os.Getenv(delegation.CallerVariable)
	}
	if parent == "" {
		return nil
	}
	return func(ctx context.Context, cwd string) string {
		key, err := store.Parent(ctx, parent, cwd)
		if err != nil && !errors.Is(err, correlation.ErrNotFound) {
			log.Warn().Err(err).Msg("looking for the session that called")
		}
		return key
	}
}
