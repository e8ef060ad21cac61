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
	Back       int         // how often an answer used it then
	Pinned     bool
	Replaced   []embedded.Memory
}

// An Injection says that a session was told a memory, and when.
type Injection struct {
	Session *Session // nil: it is not on the page
	At      time.Time
	Used    bool // an answer used it
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
	told, err := src.Memories.ToldPassages(ctx, mostMemories-len(all))
	if err != nil {
		return read, err
	}
	injected, err := injections(ctx, src, c.byID)
	if err != nil {
		return read, err
	}
	replacing := 0
	groups := map[[2]string]*MemoryGroup{}
	for _, one := range append(all, told...) {
		m := &Memory{Memory: one, From: c.byKey[one.Session], Pinned: one.Source == embedded.Pinned}
		m.setInjections(injected[one.ID])
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

// setInjections sets who was told the memory. all are the times among the newest blocks; the store's own counts may
// lack the last of these.
func (m *Memory) setInjections(all []Injection) {
	back := 0
	for _, g := range all {
		if g.Used {
			back++
		}
	}
	m.Told, m.Back = max(m.Given, len(all)), max(m.Used, back)
	m.Injections = all[:min(len(all), mostInjections)]
}

// injections gives by a memory's id who was told it and when, the newest first.
func injections(ctx context.Context, src Source, sessions map[int64]*Session) (map[string][]Injection, error) {
	newest, err := src.Sessions.NewestInjections(ctx, mostRead)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(newest, func(a, b correlation.Injection) int { return b.At.Compare(a.At) })
	ids := map[int64]bool{}
	for _, one := range newest {
		ids[one.Session] = true
	}
	used, err := src.Memories.UsedIn(ctx, slices.Collect(maps.Keys(ids)))
	all := map[string][]Injection{}
	for _, one := range newest {
		for _, item := range one.Items {
			all[item] = append(all[item], Injection{sessions[one.Session], one.At,
				used[embedded.Told{Session: one.Session, Item: item}]})
		}
	}
	return all, err
}
