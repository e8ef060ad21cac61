package view

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
)

const (
	maxMemories   = 10_000
	maxServed     = 200 // by a live page: a search finds the others
	maxFound      = 50
	maxReplacing  = 200    // memories, the newest, whose continued ones are looked up: each costs a search
	maxRead       = 10_000 // inserted blocks, the newest, that are read for who was told a memory
	maxInjections = 20     // shown of a memory
)

// A pageMemory is a memory as the page shows it.
type pageMemory struct {
	embedded.Memory
	From       *session    // the session that it came from, where that is on the page
	Injections []injection // the newest first
	Told       int         // how often it was told, as far as is known
	Pinned     bool
	Replaced   []embedded.Memory
}

// An injection says that a session was told a memory, and when.
type injection struct {
	Session *session // nil: it is not on the page
	At      time.Time
}

// A memoryGroup is the memories of a project, the newest first.
type memoryGroup struct {
	Project  string
	Personal bool // the person's own, whatever the project
	Memories []*pageMemory
}

// memories are the memories of a page, by project.
type memories struct {
	Profile            []*pageMemory // what every first prompt may get; it is in no group
	New                int           // lines of it that nobody has been shown
	Groups             []memoryGroup
	Shown, AllMemories int
	Searched           bool // they were found by a search
}

// readAllMemories reads the memories of a page in a file.
func (p *Page) readAllMemories(ctx context.Context, src Source) error {
	all, err := src.Memories.List(ctx, embedded.Filter{Limit: maxMemories})
	if err == nil {
		err = p.readMemories(ctx, src, all, maxMemories-len(all))
	}
	return err
}

// readSomeMemories reads the newest memories for a live page, or those that a search finds.
func (p *Page) readSomeMemories(ctx context.Context, src Source, text string) error {
	var all []embedded.Memory
	var err error
	if strings.TrimSpace(text) == "" {
		all, err = src.Memories.List(ctx, embedded.Filter{Limit: maxServed})
	} else {
		p.Searched = true
		all, err = src.Memories.Search(ctx, embedded.Query{Text: text, Limit: maxFound, AllProjects: true})
	}
	if err != nil {
		return err
	}
	keys := make([]string, len(all))
	for i, m := range all {
		keys[i] = m.Session
	}
	known, err := src.Sessions.SessionsByKey(ctx, keys)
	if err != nil {
		return err
	}
	in := choice{sessions: append([]int64{}, slices.Collect(maps.Values(known))...),
		turns: correlation.Scope{Sessions: []int64{}}}
	if err := p.conversations.read(ctx, src, in); err != nil {
		return err
	}
	return p.readMemories(ctx, src, all, 0)
}

// readMemories takes memories and, of those passages of conversations that a session was told, some.
func (p *Page) readMemories(ctx context.Context, src Source, all []embedded.Memory, passages int) (err error) {
	c, read := &p.conversations, &p.memories
	if read.AllMemories, err = src.Memories.Count(ctx); err != nil {
		return err
	}
	injected, err := injections(ctx, src, c.byID)
	if err != nil {
		return err
	}
	var told []embedded.Memory
	if passages > 0 {
		if told, err = src.Memories.ToldPassages(ctx, slices.Collect(maps.Keys(injected)), passages); err != nil {
			return err
		}
		read.AllMemories += len(told)
	}
	replacing := 0
	groups := map[[2]string]*memoryGroup{}
	if !read.Searched {
		if all, err = p.readProfile(ctx, src, all); err != nil {
			return err
		}
	}
	for _, one := range append(all, told...) {
		m := &pageMemory{Memory: one, From: c.byKey[one.Session], Pinned: one.Source == embedded.Pinned}
		m.setInjections(injected)
		if passage.TellsChange(one.Content) && replacing < maxReplacing {
			replacing++
			if m.Replaced, err = src.Memories.Replaced(ctx, one); err != nil {
				return err
			}
		}
		if read.Shown++; one.Said > 0 {
			read.Profile = append(read.Profile, m)
			continue
		}
		key := [2]string{one.Project}
		if one.Personal {
			key = [2]string{"", "personal"}
		}
		if groups[key] == nil {
			groups[key] = &memoryGroup{Project: key[0], Personal: one.Personal}
		}
		groups[key].Memories = append(groups[key].Memories, m)
	}
	for _, s := range groups {
		slices.SortStableFunc(s.Memories, func(a, b *pageMemory) int { return b.Created.Compare(a.Created) })
		read.Groups = append(read.Groups, *s)
	}
	slices.SortFunc(read.Groups, func(a, b memoryGroup) int {
		switch {
		case a.Personal && !b.Personal:
			return -1
		case b.Personal && !a.Personal:
			return 1
		}
		return cmp.Or(b.Memories[0].Created.Compare(a.Memories[0].Created), cmp.Compare(a.Project, b.Project))
	})
	return nil
}

// readProfile puts each line of the profile in the place of the memories that say it.
func (p *Page) readProfile(ctx context.Context, src Source, all []embedded.Memory) ([]embedded.Memory, error) {
	lines, err := src.Memories.Profile(ctx, embedded.Filter{Limit: maxMemories})
	if err != nil {
		return nil, err
	}
	fresh, err := src.Memories.NewInProfile(ctx)
	if err != nil {
		return nil, err
	}
	p.memories.New = len(fresh)
	said := map[string]bool{}
	for _, r := range lines {
		for _, id := range r.Sayings {
			said[id] = true
		}
	}
	all = slices.DeleteFunc(all, func(m embedded.Memory) bool { return said[m.ID] })
	return append(lines, all...), nil
}

// setInjections sets who was told the memory, as far as the newest blocks tell.
func (m *pageMemory) setInjections(by map[string][]injection) {
	all := by[m.ID]
	for _, id := range m.Sayings {
		if id != m.ID {
			all = append(all, by[id]...)
		}
	}
	m.Told, m.Injections = len(all), all[:min(len(all), maxInjections)]
}

// injections returns by a memory's id who was told it and when, the newest first.
func injections(ctx context.Context, src Source, sessions map[int64]*session) (map[string][]injection, error) {
	newest, err := src.Sessions.NewestInjections(ctx, maxRead)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(newest, func(a, b correlation.Injection) int { return b.At.Compare(a.At) })
	all := map[string][]injection{}
	for _, one := range newest {
		for _, item := range one.Items {
			all[item] = append(all[item], injection{sessions[one.Session], one.At})
		}
	}
	return all, err
}
