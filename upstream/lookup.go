package upstream

import (
	"cmp"
	"slices"
	"strings"
)

// Lookup returns the profile of a harness by a name that it has: acpx's, in any case, or the agentInfo.name of its
// initialize response. Of several names the first that is known counts.
func Lookup(names ...string) (Profile, bool) {
	for _, name := range names {
		name = strings.ToLower(strings.TrimSpace(name))
		name = cmp.Or(aliases[name], name)
		for _, p := range registry() {
			if name != "" && (name == p.Name || name == p.packageName() || slices.Contains(p.Agents, name)) {
				return p, true
			}
		}
	}
	return Profile{}, false
}

// Names returns the names of all profiles, in alphabetical order.
func Names() []string {
	var names []string
	for _, p := range registry() {
		names = append(names, p.Name)
	}
	return names
}

// ByCommand returns the profile of the harness that a command line starts: by its program's name, or by the package or
// adapter that is named in its arguments.
func ByCommand(command []string) (Profile, bool) {
	for _, p := range registry() {
		if len(command) > 0 && (programName(command[0]) == programName(p.program()) ||
			slices.ContainsFunc(command[1:], p.inArgument)) {
			return p, true
		}
	}
	return Profile{}, false
}
