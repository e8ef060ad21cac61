package view

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// Conversations are the sessions of a page, those with the newest turns.
type Conversations struct {
	Turns, AllTurns       int
	Sessions, AllSessions int

	byID  map[int64]*Session
	byKey map[string]*Session // by all Signet keys that they have had
}

// read reads the sessions of a page with their turns; only, if not 0, is the one to read.
func (c *Conversations) read(ctx context.Context, src Source, used *telemetry.Usage, only int64) error {
	if err := src.DB.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM turns), (SELECT count(*) FROM sessions)`).
		Scan(&c.AllTurns, &c.AllSessions); err != nil {
		return sqlite.While("counting turns", err)
	}
	turns, err := readTurns(ctx, src.DB, only)
	if err != nil {
		return err
	}
	in := pageScope{only: only, since: time.Now()}
	if len(turns) > 0 {
		in.since = turns[0].At
	}
	c.Turns = len(turns)
	if err := c.readSessions(ctx, src, in); err != nil {
		return err
	}
	for _, t := range turns {
		if s := c.byID[t.session]; s != nil {
			s.Turns = append(s.Turns, t.Turn)
		}
	}
	c.addUsage(used)
	told, err := readInsertions(ctx, src.DB, in)
	if err != nil {
		return err
	}
	for _, t := range told {
		if s := c.byID[t.session]; s != nil {
			s.addInsertion(t.Insertion)
		}
	}
	if err := c.readKeys(ctx, src.DB, in); err != nil {
		return err
	}
	c.relate()
	return nil
}

// readKeys fills byKey.
func (c *Conversations) readKeys(ctx context.Context, db *sql.DB, in pageScope) error {
	c.byKey = map[string]*Session{}
	_, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (_ struct{}, err error) {
		var key string
		var id int64
		if err = row.Scan(&key, &id); err == nil && c.byID[id] != nil {
			c.byKey[key] = c.byID[id]
		}
		return struct{}{}, err
	}, `SELECT key, session FROM session_keys WHERE `+inScope, in.args()...)
	return sqlite.While("reading keys", err)
}

// readSessions fills byID.
func (c *Conversations) readSessions(ctx context.Context, src Source, in pageScope) error {
	all, err := sqlite.Collect(ctx, src.DB, func(row sqlite.Row) (*Session, error) {
		s := &Session{cost: map[string]float64{}}
		var version string
		var started, active int64
		err := row.Scan(&s.Title, &s.ID, &s.Harness, &s.ACPID, &s.Key, &s.Cwd, &s.Project, &s.Client, &version,
			&s.parentKey, &s.continueOf, &started, &active, &s.Older)
		s.Client = strings.TrimSpace(s.Client + " " + version)
		s.Started, s.LastActive = sqlite.Unstamp(started), sqlite.Unstamp(active)
		return s, err
	}, `SELECT title, id, harness, acp_id, key, cwd, project, client, client_version, parent_key,
		coalesce(continue_of, 0), started, last_active, (SELECT count(*) FROM turns WHERE session = s.id)
		FROM sessions s
		WHERE CASE ?1 WHEN 0 THEN id IN (SELECT session FROM turns WHERE started >= ?2) ELSE id = ?1 END`,
		in.args()...)
	if err != nil {
		return sqlite.While("reading sessions", err)
	}
	newest, err := src.Sessions.Sessions(ctx, mostLive)
	if err != nil {
		return err
	}
	c.byID = make(map[int64]*Session, len(all))
	for _, s := range all {
		c.byID[s.ID] = s
	}
	for _, one := range newest {
		if s := c.byID[one.ID]; s != nil {
			s.Live = one.Live
		}
	}
	c.Sessions = len(all)
	return nil
}

// mostLive is how many sessions, the last active, are checked for being live.
const mostLive = 100

// addUsage numbers the turns, makes titles, and adds what turns and sessions used.
func (c *Conversations) addUsage(used *telemetry.Usage) {
	turns := map[int64]*Turn{}
	for _, s := range c.byID {
		s.Older -= len(s.Turns)
		for i, t := range s.Turns {
			t.N = s.Older + i + 1
			turns[t.id] = t
		}
		if s.Title = titleOf(s.Title); s.Title == "" && len(s.Turns) > 0 {
			s.Title = titleOf(s.Turns[0].User.Body)
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
