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
	i := slices.IndexFunc(registry, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return Profile{}, false
	}
	return registry[i].clone(), true
}

// Names returns the names of all profiles, in alphabetical order.
func Names() []string {
	var names []string
	for _, p := range registry {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

// ByAgent returns the profile of a harness by the agentInfo.name of its initialize response.
func ByAgent(agentName string) (Profile, bool) {
	agentName = strings.ToLower(strings.TrimSpace(agentName))
	for _, p := range registry {
		if agentName != "" && (agentName == p.Name || agentName == p.packageName() ||
			slices.Contains(p.Agents, agentName)) {
			return p.clone(), true
		}
	}
	return Profile{}, false
}

// ByCommand returns the profile of the harness that a command line starts: by its program's name, or by the package or
// adapter that is named in its arguments.
func ByCommand(command []string) (Profile, bool) {
	if len(command) == 0 {
		return Profile{}, false
	}
	program := programName(command[0])
	for _, p := range registry {
		named := program == programName(p.program()) ||
			slices.ContainsFunc(command[1:], p.inArgument)
		if named {
			return p.clone(), true
		}
	}
	return Profile{}, false
}
