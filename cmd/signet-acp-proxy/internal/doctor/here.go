package doctor

import (
	"maps"
	"os"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// here names what turns memory off for agents that are started in this folder, from this shell.
func (e *examination) here() (found []finding) {
	if name := runtime.BypassedBy(e.c); name != "" {
		found = append(found, note("unset "+name, "%s is set here: agents run without memory, and nothing is "+
			"stored", name)...)
	}
	if dir, err := os.Getwd(); err == nil {
		if by := memory.ExcludedBy(dir, e.c.Exclude); by != "" {
			found = append(found, note("remove it to use memory here",
				"%s is excluded from memory by %s", dir, by)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.c.Agents)) {
		if !e.c.Agents[name].Inject {
			setting := "agents." + name + ".inject"
			found = append(found, note("", "%s is off (%s): it runs without memory, and nothing is stored",
				setting, e.c.Source(setting))...)
		}
	}
	return found
}
