package upstream

import (
	"slices"
	"strings"
)

// Lookup returns the profile of a harness by the name that acpx has for it, in any case.
func Lookup(name string) (Profile, bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	if canonical, ok := aliases[name]; ok {
		name = canonical
	}
	return first(func(p Profile) bool { return p.Name == name })
}

// Names returns the names of all profiles, in alphabetical order.
func Names() []string {
	var names []string
	for _, p := range registry() {
		names = append(names, p.Name)
	}
	return names
}

// ByAgent returns the profile of a harness by the agentInfo.name of its initialize response.
func ByAgent(agentName string) (Profile, bool) {
	agentName = strings.ToLower(strings.TrimSpace(agentName))
	return first(func(p Profile) bool {
		return agentName != "" &&
			(agentName == p.Name || agentName == p.packageName() || slices.Contains(p.Agents, agentName))
	})
}

// ByCommand returns the profile of the harness that a command line starts: by its program's name, or by the package or
// adapter that is named in its arguments.
func ByCommand(command []string) (Profile, bool) {
	return first(func(p Profile) bool {
		return len(command) > 0 && (programName(command[0]) == programName(p.program()) ||
			slices.ContainsFunc(command[1:], p.inArgument))
	})
}

// first returns the first profile that matches.
func first(matches func(Profile) bool) (Profile, bool) {
	all := registry()
	i := slices.IndexFunc(all, matches)
	if i < 0 {
		return Profile{}, false
	}
	return all[i], true
}
