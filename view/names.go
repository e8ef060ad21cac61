package view

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// harnessName returns the title of a harness, its name where it is not known.
func harnessName(name string) string {
	if p, known := upstream.Lookup(name); known {
		return p.Title
	}
	return name
}

// projectName is what the page calls a project.
func projectName(path string) string { return cmp.Or(memory.HomeShort(path), "no project") }

// baseName is what a list calls a project: the last part of its path.
func baseName(path string) string {
	if path == "" {
		return "–"
	}
	return filepath.Base(path)
}

// choices are what sessions and memories can be chosen by. Agents are there only if there are several.
type choices struct {
	Projects          []string // by their paths
	Harnesses, Agents []string
	Kinds, Whos       []string // of memories
}

func choicesOf(kinds []correlation.Count, remembered []embedded.Memory) (c choices) {
	projects, harnesses, agents := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, k := range kinds {
		projects[k.Project] += k.Sessions
		harnesses[harnessName(k.Harness)] += k.Sessions
		agents[k.Agent] = true
	}
	c.Projects, c.Harnesses = byCount(projects), byCount(harnesses)
	if delete(agents, ""); len(agents) > 0 {
		c.Agents = slices.Sorted(maps.Keys(agents))
	}
	for _, k := range remembered {
		if !slices.Contains(c.Kinds, k.Type) {
			c.Kinds = append(c.Kinds, k.Type)
		}
		if who := k.Who.ForPeople(); !slices.Contains(c.Whos, who) {
			c.Whos = append(c.Whos, who)
		}
	}
	return c
}

// byCount returns names by how often they are there, the most frequent first.
func byCount(names map[string]int) []string {
	return slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(names[b], names[a]), cmp.Compare(a, b))
	})
}

// noProject is the project of sessions that have none, in an address.
const noProject = "none"
