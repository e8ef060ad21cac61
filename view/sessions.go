package view

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// read reads sessions.
func (c *conversations) read(ctx context.Context, src Source, of choice) (err error) {
	if c.AllTurns, c.AllSessions, err = src.Sessions.Totals(ctx); err != nil {
		return err
	}
	turns, err := readTurns(ctx, src.Sessions, of)
	if err != nil {
		return err
	}
	c.Turns = len(turns)
	ids := append([]int64{}, of.sessions...) // not nil, which would be all
	for _, t := range turns {
		ids = append(ids, t.of)
	}
	slices.Sort(ids)
	in := correlation.Scope{Sessions: slices.Compact(ids)}
	if err := c.readSessions(ctx, src, in); err != nil {
		return err
	}
	for _, t := range turns {
		if t.Session = c.byID[t.of]; t.Session != nil {
			t.Session.Turns = append(t.Session.Turns, t)
		}
	}
	if err := c.addUsage(ctx, src, in); err != nil {
		return err
	}
	if err := c.addFiles(ctx, src, in); err != nil {
		return err
	}
	if of.text > 0 {
		if err := c.addDigests(ctx, src); err != nil {
			return err
		}
	}
	if err := c.readInsertions(ctx, src, in, of.text > 0); err != nil {
		return err
	}
	keys, err := src.Sessions.KeysIn(ctx, in)
	if err != nil {
		return err
	}
	c.byKey = map[string]*session{}
	for key, id := range keys {
		if s := c.byID[id]; s != nil {
			c.byKey[key] = s
		}
	}
	c.relate()
	c.Listed = c.newest()
	return c.readDelegations(ctx, src)
}

// maxDigests is how many sessions of a page have a digest, the newest: each is read for it.
const maxDigests = 200

// addDigests adds to sessions what their agents noted, and to the newest of more than one turn what they were about.
func (c *conversations) addDigests(ctx context.Context, src Source) error {
	newest := c.newest()
	noted, err := src.Memories.NotesOf(ctx, slices.Collect(maps.Keys(c.byID)))
	if err != nil {
		return err
	}
	for _, s := range newest {
		s.Notes = noted[s.ID]
	}
	for _, s := range newest[:min(len(newest), maxDigests)] {
		if len(s.Turns) == 0 || s.AllTurns < 2 {
			continue
		}
		b, _, err := src.Memories.Brief(ctx, s.ID)
		if err != nil {
			return err
		}
		s.Digest = b.Line()
	}
	return nil
}

// readSessions fills byID.
func (c *conversations) readSessions(ctx context.Context, src Source, in correlation.Scope) error {
	all, err := src.Sessions.SessionsIn(ctx, in)
	if err != nil {
		return err
	}
	words, err := src.Sessions.FirstWords(ctx, in)
	c.byID = make(map[int64]*session, len(all))
	for _, s := range all {
		c.byID[s.ID] = &session{
			ID: s.ID, ACPID: s.ACPID, Key: s.Key, Harness: s.Harness, Cwd: s.Cwd, Project: s.Project, Agent: s.AgentID,
			Title:   chars.Title(cmp.Or(s.Title, words[s.ID])),
			Client:  strings.TrimSpace(s.Client + " " + s.ClientVersion),
			Started: s.Started, LastActive: s.LastActive, Live: s.Live, AllTurns: s.Turns,
			parentKey: s.ParentKey, continueOf: s.ContinueOf, cost: map[string]float64{},
		}
	}
	return err
}

// addUsage numbers the turns, and adds what turns and sessions used.
func (c *conversations) addUsage(ctx context.Context, src Source, in correlation.Scope) error {
	turns := map[int64]*turn{}
	for _, s := range c.byID {
		s.Older = s.AllTurns - len(s.Turns)
		for i, t := range s.Turns {
			t.N = s.Older + i + 1
			turns[t.id] = t
		}
	}
	err := telemetry.EachReport(ctx, src.Sessions, in, func(r telemetry.Report) {
		if t := turns[r.Turn]; t != nil {
			t.Used = tokens(r.Input, r.Output)
		}
		if s := c.byID[r.Session]; s != nil {
			s.input, s.out = telemetry.Plus(s.input, r.Input), telemetry.Plus(s.out, r.Output)
			if r.Cost != nil {
				s.cost[r.Currency] += *r.Cost
			}
		}
	})
	for _, s := range c.byID {
		used := []string{tokens(s.input, s.out), telemetry.Prices(s.cost)}
		s.Used = strings.Join(slices.DeleteFunc(used, func(w string) bool { return w == "" }), ", ")
	}
	return err
}

// relate links sessions: which one continues which, and which one called which.
func (c *conversations) relate() {
	for _, s := range c.byID {
		if before := c.byID[s.continueOf]; before != nil && before != s {
			s.Continues = before
			before.ContinuedBy = append(before.ContinuedBy, s)
		}
		if parent := c.byKey[s.parentKey]; parent != nil && !parent.isBelow(s) {
			s.Caller = parent
			parent.Called = append(parent.Called, s)
		}
	}
	for _, s := range c.byID {
		slices.SortFunc(s.Called, oldestFirst)
		slices.SortFunc(s.ContinuedBy, oldestFirst)
	}
}
