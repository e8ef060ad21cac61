package view

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
)

const (
	mostMemories   = 10_000
	mostReplacing  = 200    // memories, the newest, whose predecessors are looked up: each costs a search
	mostRead       = 10_000 // inserted blocks, the newest, that are read for who was told a memory
	mostInjections = 20     // shown of a memory
)

// A Memory is a memory as the page shows it.
type Memory struct {
	embedded.Memory
	From       *Session    // the session that it came from, where that is on the page
	Injections []Injection // the newest first
	Told       int         // how often it was told, as far as is known
	Pinned     bool
	Replaced   []embedded.Memory
}

// An Injection says that a session was told a memory, and when.
type Injection struct {
	Session *Session // nil: it is not on the page
	At      time.Time
}

// A MemoryGroup is the memories of a project, the newest first.
type MemoryGroup struct {
	Project  string
	Personal bool // the person's own, whatever the project
	Memories []*Memory
}

// Memories are the memories of a page, by project.
type Memories struct {
	Groups             []MemoryGroup
	Shown, AllMemories int
}

// readMemories reads memories, and those passages of conversations that a session was told.
func readMemories(ctx context.Context, src Source, c *Conversations) (Memories, error) {
	var read Memories
	all, err := src.Memories.List(ctx, embedded.Filter{Limit: mostMemories})
	if err != nil {
		return read, err
	}
	if read.AllMemories, err = src.Memories.Count(ctx); err != nil {
		return read, err
	}
	injected, err := injections(ctx, src, c.byID)
	if err != nil {
		return read, err
	}
	told, err := src.Memories.ToldPassages(ctx, slices.Collect(maps.Keys(injected)), mostMemories-len(all))
	if err != nil {
		return read, err
	}
	read.AllMemories += len(told)
	replacing := 0
	groups := map[[2]string]*MemoryGroup{}
	if all, err = withRules(ctx, src, all); err != nil {
		return read, err
	}
	for _, one := range append(all, told...) {
		m := &Memory{Memory: one, From: c.byKey[one.Session], Pinned: one.Source == embedded.Pinned}
		m.setInjections(injected)
		if changed, _ := passage.TellsChange(one.Content); changed && replacing < mostReplacing {
			replacing++
			if m.Replaced, err = src.Memories.Replaced(ctx, one); err != nil {
				return read, err
			}
		}
		key := [2]string{one.Project}
		if one.Personal {
			key = [2]string{"", "personal"}
		}
		if groups[key] == nil {
			groups[key] = &MemoryGroup{Project: key[0], Personal: one.Personal}
		}
		groups[key].Memories = append(groups[key].Memories, m)
		read.Shown++
	}
	for _, s := range groups {
		slices.SortStableFunc(s.Memories, func(a, b *Memory) int { return b.Created.Compare(a.Created) })
		read.Groups = append(read.Groups, *s)
	}
	slices.SortFunc(read.Groups, func(a, b MemoryGroup) int {
		if a.Personal != b.Personal {
			return map[bool]int{true: -1, false: 1}[a.Personal]
		}
		return cmp.Or(b.Memories[0].Created.Compare(a.Memories[0].Created), cmp.Compare(a.Project, b.Project))
	})
	return read, nil
}

// withRules puts each rule in the place of the memories that say it, with its scope and how often it was said.
func withRules(ctx context.Context, src Source, all []embedded.Memory) ([]embedded.Memory, error) {
	rules, err := src.Memories.Rules(ctx, embedded.Filter{Limit: mostMemories})
	if err != nil {
		return nil, err
	}
	said := map[string]bool{}
	for _, r := range rules {
		for _, id := range r.Sayings {
			said[id] = true
		}
	}
	all = slices.DeleteFunc(all, func(m embedded.Memory) bool { return said[m.ID] })
	return append(rules, all...), nil
}

// setInjections sets who was told the memory, as far as the newest blocks tell.
func (m *Memory) setInjections(by map[string][]Injection) {
	all := by[m.ID]
	for _, id := range m.Sayings {
		if id != m.ID {
			all = append(all, by[id]...)
		}
	}
	m.Told, m.Injections = len(all), all[:min(len(all), mostInjections)]
}

// injections gives by a memory's id who was told it and when, the newest first.
func injections(ctx context.Context, src Source, sessions map[int64]*Session) (map[string][]Injection, error) {
	newest, err := src.Sessions.NewestInjections(ctx, mostRead)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(newest, func(a, b correlation.Injection) int { return b.At.Compare(a.At) })
	all := map[string][]Injection{}
	for _, one := range newest {
		for _, item := range one.Items {
			all[item] = append(all[item], Injection{sessions[one.Session], one.At})
		}
	}
	return all, err
}
