package delegation

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/delegation/bounds"
)

// idVariable is the environment variable with the id of the delegation that a process works for. Whatever continues it,
// through a shell too, is that child.
const idVariable = "SIGNET_ACP_DELEGATION_ID"

// Further variables of a child: how deep it is nested and in which mode, by which it is offered tools (the ledger
// trusts neither), and the Signet key of the session that asked.
const (
	depthVariable  = "SIGNET_ACP_DELEGATION_DEPTH"
	modeVariable   = "SIGNET_ACP_DELEGATION_MODE"
	CallerVariable = "SIGNET_ACP_CALLER"
)

// Inside returns the delegation that a process with this environment works for, "" for none.
func Inside(environment func(string) string) string { return environment(idVariable) }

// AtDepthLimit reports whether a process with this environment is a child that may not delegate.
func AtDepthLimit(environment func(string) string) bool {
	depth, _ := strconv.Atoi(environment(depthVariable))
	return Inside(environment) != "" && depth >= maxDepth
}

// Outside returns an environment without what an agent of ours has in it, and what would keep another from its memory.
func Outside(env []string) []string {
	return slices.DeleteFunc(env, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		// with CLAUDECODE, Claude Code refuses to start, as inside another one's shell
		return slices.Contains([]string{idVariable, depthVariable, modeVariable, CallerVariable, "SIGNET_ACP_PARENT",
			"SIGNET_NO_HOOKS", "CLAUDECODE"}, name)
	})
}

// childEnvironment returns the caller's environment without that; idVariable marks it as a child.
func childEnvironment(d Delegation, place *bounds.Place) []string {
	env := Outside(os.Environ())
	if place != nil {
		env = append(env, place.Environment())
	}
	return append(env, idVariable+"="+d.ID, depthVariable+"="+strconv.Itoa(d.Depth), modeVariable+"="+string(d.Mode),
		CallerVariable+"="+d.Key)
}
