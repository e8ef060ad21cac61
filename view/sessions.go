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

// Conversations are sessions of a page.
type Conversations struct {
	Turns, AllTurns, AllSessions int

	Listed []*Session // as they are listed
	byID   map[int64]*Session
	byKey  map[string]*Session // by all Signet keys that they have had
}

// A choice says what to read of which sessions.
type choice struct {
	newest   bool              // those of the newest turns
	sessions []int64           // else these
	turns    correlation.Scope // of which turns are read
	text     int               // bytes of one side of a turn; 0: none, and nothing of what was inserted
}

// read reads sessions.
func (c *Conversations) read(ctx context.Context, src Source, of choice) (err error) {
	if c.AllTurns, c.AllSessions, err = src.Sessions.Totals(ctx); err != nil {
		return err
	}
	turns, err := readTurns(ctx, src.Sessions, of)
	if err != nil {
		return err
	}
	c.Turns = len(turns)
	in := of.scope(turns)
	if err := c.readSessions(ctx, src, in); err != nil {
		return err
	}
	for _, t := range turns {
		if s := c.byID[t.session]; s != nil {
			s.Turns = append(s.Turns, t.Turn)
		}
	}
	used, err := telemetry.ReadUsage(ctx, src.Sessions, in)
	if err != nil {
		return err
	}
	c.addUsage(used)
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
	c.byKey = map[string]*Session{}
	for key, id := range keys {
		if s := c.byID[id]; s != nil {
			c.byKey[key] = s
		}
	}
	c.relate()
	c.Listed = c.newest()
	return c.readDelegations(ctx, src)
}

// scope holds the sessions that are chosen; turns are the newest.
func (of choice) scope(turns []turnOf) correlation.Scope {
	if !of.newest {
		return correlation.Scope{Sessions: append([]int64{}, of.sessions...)} // not nil, which would be all
	}
	ids := []int64{}
	for _, t := range turns {
		ids = append(ids, t.session)
	}
	slices.Sort(ids)
	return correlation.Scope{Sessions: slices.Compact(ids)}
}

// newest returns the sessions, the last active first.
func (c *Conversations) newest() []*Session {
	return slices.SortedFunc(maps.Values(c.byID), func(a, b *Session) int {
		return cmp.Or(b.LastActive.Compare(a.LastActive), cmp.Compare(b.ID, a.ID))
	})
}

// maxDigests is how many sessions of a page have a digest, the newest: each is read for it.
const maxDigests = 200

// addDigests adds to the newest sessions of more than one turn what they were about.
func (c *Conversations) addDigests(ctx context.Context, src Source) error {
	newest := c.newest()
	for _, s := range newest[:min(len(newest), maxDigests)] {
		if len(s.Turns) == 0 || s.AllTurns < 2 {
			continue
		}
		d, _, err := src.Memories.Digest(ctx, s.ID)
		if err != nil {
			return err
		}
		s.Digest = d.Text()
	}
	return nil
}

// readSessions fills byID.
func (c *Conversations) readSessions(ctx context.Context, src Source, in correlation.Scope) error {
	all, err := src.Sessions.SessionsIn(ctx, in)
	if err != nil {
		return err
	}
	words, err := src.Sessions.FirstWords(ctx, in)
	c.byID = make(map[int64]*Session, len(all))
	for _, s := range all {
		c.byID[s.ID] = &Session{
			ID: s.ID, ACPID: s.ACPID, Key: s.Key, Harness: s.Harness, Cwd: s.Cwd, Project: s.Project, Agent: s.AgentID,
			Title:   chars.Title(cmp.Or(s.Title, words[s.ID])),
			Client:  strings.TrimSpace(s.Client + " " + s.ClientVersion),
			Started: s.Started, LastActive: s.LastActive, Live: s.Live, AllTurns: s.Turns,
			parentKey: s.ParentKey, continueOf: s.ContinueOf, cost: map[string]float64{},
		}
	}
	return err
}

// addUsage numbers the turns, notes which files they changed, and adds what turns and sessions used.
func (c *Conversations) addUsage(used *telemetry.Usage) {
	turns := map[int64]*Turn{}
	for _, s := range c.byID {
		s.Older = s.AllTurns - len(s.Turns)
		for i, t := range s.Turns {
			t.N = s.Older + i + 1
			turns[t.id] = t
			s.addFiles(t.Tools)
		}
	}
	for r := range used.Reports {
		if t := turns[r.Turn]; t != nil {
			t.Used = tokens(r.Input, r.Output)
		}
		if s := c.byID[r.Session]; s != nil {
			s.input, s.out = telemetry.Plus(s.input, r.Input), telemetry.Plus(s.out, r.Output)
			if r.Cost != nil {
				s.cost[r.Currency] += *r.Cost
			}
		}
	}
	for _, s := range c.byID {
		used := []string{tokens(s.input, s.out), telemetry.Prices(s.cost)}
		s.Used = strings.Join(slices.DeleteFunc(used, func(w string) bool { return w == "" }), ", ")
	}
}

// relate links sessions: which one continues which, and which one called which.
func (c *Conversations) relate() {
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
