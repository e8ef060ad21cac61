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
	"github.com/Signet-AI/signet-acp-proxy/lineage"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// The variables by which a Signet program knows who started it.
const (
	hooksVariable  = "SIGNET_NO_HOOKS"
	bypassVariable = "SIGNET_BYPASS"
	// parentVariable is how a proxy below ours finds its parent: it holds our process id. A session's key would not do,
	// for a harness is started once and may hold many sessions; but a key is accepted, too.
	parentVariable = "SIGNET_ACP_PARENT"
)

// Bypassed reports whether the relay is to pass everything unchanged. SIGNET_NO_HOOKS=1 is set by Signet, which must
// not be fed its own work, or by a proxy around us, which then also names itself: a person may want memory for agents
// that are called by agents.
func Bypassed(c *config.Config) bool { return BypassedBy(c) != "" }

// BypassedBy returns the variable for which that is so, "" for none.
func BypassedBy(c *config.Config) string {
	switch nested := os.Getenv(parentVariable) != ""; {
	case os.Getenv(bypassVariable) == "1":
		return bypassVariable
	case nested && c.Nested != "inject":
		return parentVariable
	case !nested && os.Getenv(hooksVariable) == "1":
		return hooksVariable
	}
	return ""
}

// WithHooks tells the agent's own Signet hooks, in its environment (ours if env is nil), whether to run: they would
// inject a second time.
func WithHooks(env []string, hooks string) []string {
	switch hooks {
	case "inherit":
		return environment(env)
	case "enabled":
		return without(environment(env), hooksVariable)
	}
	return append(without(environment(env), hooksVariable), hooksVariable+"=1")
}

// WithParent names our process in the harness's environment.
func WithParent(env []string, process string) []string {
	return append(without(environment(env), parentVariable), parentVariable+"="+process)
}

func environment(env []string) []string {
	if env == nil {
		return os.Environ()
	}
	return env
}

// without returns a copy of an environment in which a variable is not set.
func without(env []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, name+"=") })
}

// parentOfSessions returns a function that finds the Signet key of the session that our sessions work for; nil when
// there is none.
func parentOfSessions(store *correlation.Store, log zerolog.Logger) func(ctx context.Context, cwd string) string {
	parent := os.Getenv(parentVariable)
	if parent == "" {
		// a delegated child has memory, whatever the setting nested says
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

// Version is the program's version. main sets it before anything else.
var Version = "devel"

// IdentityFiles are the person's own files, in the order in which an agent reads them.
var IdentityFiles = []string{"IDENTITY.md", "USER.md", "SOUL.md", "AGENTS.md", "MEMORY.md"}

// By says who runs this program: an agent where one of our harnesses is among its ancestors, which our own program has
// started; a delegation's child where the environment says so; else a person.
func By() memory.Who {
	if delegation.Inside(os.Getenv) != "" {
		return memory.Child
	}
	program, err := os.Executable()
	ancestors, unknown := lineage.Of(os.Getppid())
	if err == nil && unknown == nil && slices.ContainsFunc(ancestors,
		func(p lineage.Process) bool { return p.RunsOf(program) }) {
		return memory.Agent
	}
	return memory.Typed
}

// above returns the parent of a process, where the system tells.
func above(pid int) (int, bool) {
	p, err := lineage.Look(pid)
	return p.Parent, err == nil
}
