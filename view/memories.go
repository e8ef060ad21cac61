package view

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
)

const (
	maxMemories   = 10_000
	maxFiles      = 40     // that were edited last
	maxReplacing  = 200    // memories, the newest, whose continued ones are looked up: each costs a search
	maxRead       = 10_000 // inserted blocks, the newest, that are read for who was told a memory
	maxInjections = 20     // shown of a memory
)

// A pageMemory is a memory as the page shows it.
type pageMemory struct {
	embedded.Memory
	From       *session    // the session that it came from, where that is on the page
	Injections []injection // the newest first
	Told, Used int         // how often it was told, as far as is known, and seen to be used
	Pinned     bool
	Replaced   []embedded.Memory
}

// An injection says that a session was told a memory, and when.
type injection struct {
	Session *session // nil: it is not on the page
	At      time.Time
}

// A pageFile is a file that was edited, with the sessions that did so.
type pageFile struct {
	embedded.FileEdited
	Editors    []*session // that are on the page, the newest first
	Told, Used int
}

// readAllMemories reads the memories of a page in a file and, as far as there is room, those passages of conversations
// that a session was told.
func (p *Page) readAllMemories(ctx context.Context) error {
	all, err := p.src.Memories.List(ctx, embedded.Filter{Limit: maxMemories})
	if err != nil {
		return err
	}
	files, err := p.src.Memories.EditedLately(ctx, "", maxFiles)
	if err != nil {
		return err
	}
	injected, err := p.injections(ctx)
	if err != nil {
		return err
	}
	told, err := p.src.Memories.ToldPassages(ctx, slices.Collect(maps.Keys(injected)), maxMemories-len(all))
	if err == nil {
		err = p.addMemories(ctx, append(all, told...), injected)
	}
	p.AllMemories += len(told)
	if err == nil {
		err = p.addEdited(ctx, files)
	}
	return err
}

// readSomeMemories reads a page of memories for a live page, or those that a search finds.
func (p *Page) readSomeMemories(ctx context.Context, q query) error {
	p.PageN, p.Chosen = q.page, q.text+q.project+q.kind+q.who != ""
	all, more, err := q.findMemories(ctx, p.src)
	if err != nil {
		return err
	}
	p.More = more
	var files []embedded.FileEdited
	if q.page == 1 && q.text+q.kind+q.who == "" {
		if files, err = p.src.Memories.EditedLately(ctx, q.inProject(), maxFiles); err != nil {
			return err
		}
	}
	keys := make([]string, len(all))
	for i, m := range all {
		keys[i] = m.Session
	}
	known, err := p.src.Sessions.SessionsByKey(ctx, keys)
	if err != nil {
		return err
	}
	sessions := append([]int64{}, slices.Collect(maps.Values(known))...)
	for _, f := range files {
		sessions = append(sessions, f.Sessions...)
	}
	in := choice{sessions: sessions, turns: correlation.Scope{Sessions: []int64{}}}
	if err := p.readSessions(ctx, in); err != nil {
		return err
	}
	injected, err := p.injections(ctx)
	if err == nil {
		err = p.addMemories(ctx, all, injected)
	}
	if err == nil {
		err = p.addEdited(ctx, files)
	}
	return err
}

// addMemories adds memories with who was told them, and what became of that.
func (p *Page) addMemories(ctx context.Context, all []embedded.Memory,
	injected map[string][]injection) (err error) {
	if p.AllMemories, err = p.src.Memories.Count(ctx); err != nil {
		return err
	}
	p.Shown = len(all)
	if !p.Chosen && p.PageN <= 1 {
		if all, err = p.readProfile(ctx, all); err != nil {
			return err
		}
	}
	ids := make([]string, len(all))
	for i, m := range all {
		ids[i] = m.ID
	}
	records, err := correlation.Records(ctx, p.src.DB, "", ids)
	if err != nil {
		return err
	}
	replacing := 0
	for _, one := range all {
		m := &pageMemory{Memory: one, From: p.byKey[one.Session], Pinned: one.Source == embedded.Pinned,
			Used: records[one.ID].Used}
		told := injected[one.ID]
		for _, id := range one.Sayings {
			if id != one.ID {
				told = append(told, injected[id]...)
			}
		}
		m.Told, m.Injections = len(told), told[:min(len(told), maxInjections)]
		if passage.TellsChange(one.Content) && replacing < maxReplacing {
			replacing++
			if m.Replaced, err = p.src.Memories.Replaced(ctx, one); err != nil {
				return err
			}
		}
		if one.Said > 0 {
			p.Profile = append(p.Profile, m)
		} else {
			p.List = append(p.List, m)
		}
	}
	if !p.Chosen { // else the best first, or in the order of the store
		slices.SortStableFunc(p.List, func(a, b *pageMemory) int { return b.Created.Compare(a.Created) })
	}
	return nil
}

// addEdited adds files with the sessions that edited them, and what became of telling them.
func (p *Page) addEdited(ctx context.Context, files []embedded.FileEdited) error {
	items := make([]string, len(files))
	for i, f := range files {
		items[i] = memory.FileItem(f.Path)
	}
	records, err := correlation.Records(ctx, p.src.DB, "", items)
	for i, f := range files {
		r := records[items[i]]
		one := pageFile{FileEdited: f, Told: r.Told, Used: r.Used}
		for _, id := range f.Sessions {
			if s := p.byID[id]; s != nil {
				one.Editors = append(one.Editors, s)
			}
		}
		p.Files = append(p.Files, one)
	}
	return err
}

// readProfile puts each line of the profile in the place of the memories that say it.
func (p *Page) readProfile(ctx context.Context, all []embedded.Memory) ([]embedded.Memory, error) {
	lines, err := p.src.Memories.Profile(ctx, embedded.Filter{Limit: maxMemories})
	if err != nil {
		return nil, err
	}
	fresh, err := p.src.Memories.NewInProfile(ctx)
	if err != nil {
		return nil, err
	}
	p.New = len(fresh)
	said := map[string]bool{}
	for _, r := range lines {
		for _, id := range r.Sayings {
			said[id] = true
		}
	}
	all = slices.DeleteFunc(all, func(m embedded.Memory) bool { return said[m.ID] })
	return append(lines, all...), nil
}

// injections returns by a memory's id who was told it and when, the newest first.
func (p *Page) injections(ctx context.Context) (map[string][]injection, error) {
	var newest []correlation.Injection
	err := p.src.Sessions.InjectionsIn(ctx, correlation.Scope{}, 0, maxRead, func(one correlation.Injection) {
		if one.Outcome != correlation.WasRefused {
			newest = append(newest, one)
		}
	})
	slices.SortStableFunc(newest, func(a, b correlation.Injection) int { return b.At.Compare(a.At) })
	all := map[string][]injection{}
	for _, one := range newest {
		for _, item := range one.Items {
			all[item] = append(all[item], injection{p.byID[one.Session], one.At})
		}
	}
	return all, err
}
