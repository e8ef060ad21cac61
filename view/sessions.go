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

// readSessions reads sessions with all that belongs to them.
func (c *conversations) readSessions(ctx context.Context, of choice) (err error) {
	if c.AllTurns, c.AllSessions, err = c.src.Sessions.Totals(ctx); err != nil {
		return err
	}
	turns, err := readTurns(ctx, c.src.Sessions, of)
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
	all, err := c.src.Sessions.SessionsIn(ctx, in)
	if err != nil {
		return err
	}
	words, err := c.src.Sessions.FirstWords(ctx, in)
	if err != nil {
		return err
	}
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
	// the last active first
	c.Listed = slices.SortedFunc(maps.Values(c.byID), func(a, b *session) int {
		return cmp.Or(b.LastActive.Compare(a.LastActive), cmp.Compare(b.ID, a.ID))
	})
	for _, t := range turns {
		if t.Session = c.byID[t.of]; t.Session != nil {
			t.Session.Turns = append(t.Session.Turns, t)
		}
	}
	steps := []func(context.Context, correlation.Scope) error{c.addUsage, c.addFiles, c.relate, c.addDelegations}
	if of.text > 0 {
		steps = append(steps, c.addDigests)
	}
	for _, add := range steps {
		if err := add(ctx, in); err != nil {
			return err
		}
	}
	return c.addInsertions(ctx, in, of.text > 0)
}

// maxDigests is how many sessions of a page have a digest, the newest: each is read for it.
const maxDigests = 200

// addDigests adds to sessions what their agents noted, and to the newest of more than one turn what they were about.
func (c *conversations) addDigests(ctx context.Context, in correlation.Scope) error {
	noted, err := c.src.Memories.NotesOf(ctx, in.Sessions)
	if err != nil {
		return err
	}
	for _, s := range c.Listed {
		s.Notes = noted[s.ID]
	}
	for _, s := range c.Listed[:min(len(c.Listed), maxDigests)] {
		if len(s.Turns) == 0 || s.AllTurns < 2 {
			continue
		}
		b, _, err := c.src.Memories.Brief(ctx, s.ID)
		if err != nil {
			return err
		}
		s.Digest = b.Line()
	}
	return nil
}

// addUsage numbers the turns, and adds what turns and sessions used.
func (c *conversations) addUsage(ctx context.Context, in correlation.Scope) error {
	turns := map[int64]*turn{}
	for _, s := range c.byID {
		s.Older = s.AllTurns - len(s.Turns)
		for i, t := range s.Turns {
			t.N = s.Older + i + 1
			turns[t.id] = t
		}
	}
	err := telemetry.EachReport(ctx, c.src.Sessions, in, func(r telemetry.Report) {
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
func (c *conversations) relate(ctx context.Context, in correlation.Scope) error {
	keys, err := c.src.Sessions.KeysIn(ctx, in)
	c.byKey = map[string]*session{}
	for key, id := range keys {
		if s := c.byID[id]; s != nil {
			c.byKey[key] = s
		}
	}
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
	return err
}
