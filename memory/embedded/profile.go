package embedded

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/stated"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// The profile is what a person has stated to last: rules, preferences, what to remember. A few of its lines stand in
// every first prompt. Each row of a memory is what one turn said; rows that say the same are one line.

const (
	maxPinned       = 8   // pinned memories that a prompt gets
	maxProfileRows  = 400 // of a project, the newest
	maxProfile      = 6   // lines that a prompt gets,
	maxProfileBytes = 700 // all together,
	maxLine         = 200 // and each
	maxFurther      = 3   // lines beyond these that the prompt recalls
	aside           = .5  // how much counts what a line is for without saying it
	sameInTemplate  = 3   // sessions in which a statement stands in the same paragraph: a template says it
)

// MinRecalled is the share of a prompt that a line of the profile holds (its Score) to be recalled by it, and not only
// to stand in every prompt.
const MinRecalled = .25

// A line of the profile is the rows that say it, the one that is shown first.
type line struct {
	rows  []Memory // with their turns
	terms []string // of the first
	again bool     // the user had to say it again after it was told
}

// inProfile is the condition on a memory m to stand in the profile.
const inProfile = `m.type IN ('rule', 'preference', 'fact') AND m.who IN ('typed', 'pin')
	AND (m.type <> 'fact' OR m.source IN ('` + sourceTurn + `', '` + sourceProfile + `'))`

// profile returns the lines that a session of a project may see, the newest first; of all projects where in says
// so.
func (s *Store) profile(ctx context.Context, q sqlite.Querier, in Query) ([]line, error) {
	rows, err := sqlite.Collect(ctx, q, func(row sqlite.Row) (Memory, error) {
		var turn int64
		m, err := scanMemoryAnd(row, &turn)
		m.Turn = turn
		return m, err
	}, s.across(`SELECT `+memoryColumns+`, coalesce(m.turn, 0) FROM memories m INDEXED BY memories_profile
		WHERE `+inProfile+` AND m.source <> ?6
			AND (?2 OR m.project IN (?1, '') OR m.personal) AND (m.key = '' OR m.key NOT IN (?3, ?4))
		ORDER BY m.created DESC, m.id DESC LIMIT ?5`),
		in.Project, in.AllProjects, in.keys[0], in.keys[1], maxProfileRows, Pinned)
	if err != nil {
		return nil, err
	}
	var list []line
	for _, r := range rows {
		terms := language.Terms(r.Content)
		at := slices.IndexFunc(list, func(have line) bool {
			first := have.rows[0]
			return stated.Same(have.terms, terms) && (first.Project == r.Project || first.Personal || r.Personal)
		})
		if at < 0 {
			list = append(list, line{rows: []Memory{r}, terms: terms})
			continue
		}
		list[at].rows = append(list[at].rows, r)
	}
	again, err := sqlite.Collect(ctx, q, sqlite.One[string], `SELECT DISTINCT item FROM uses WHERE state = ?`,
		correlation.SaidAgain)
	if err != nil {
		return nil, err
	}
	for i, l := range list {
		list[i].again = slices.ContainsFunc(l.rows, func(r Memory) bool { return slices.Contains(again, r.ID) })
	}
	return withoutTemplates(ctx, q, list)
}

// withoutTemplates leaves out what nobody says again and again: a statement that stands in the same paragraph, among
// other sentences, in several sessions.
func withoutTemplates(ctx context.Context, q sqlite.Querier, list []line) ([]line, error) {
	var turns []int64
	for _, l := range list {
		if l.sessions() < sameInTemplate {
			continue
		}
		for _, r := range l.rows {
			turns = append(turns, r.Turn)
		}
	}
	if len(turns) == 0 {
		return list, nil
	}
	said := map[int64][]string{}
	err := sqlite.Each(ctx, q, func(row sqlite.Row) error {
		var turn int64
		var text string
		err := row.Scan(&turn, &text)
		said[turn] = append(said[turn], text)
		return err
	}, `SELECT p.turn, p.content FROM json_each(?) j JOIN passages p ON p.turn = j.value WHERE p.who = 'typed'`,
		sqlite.List(turns))
	return slices.DeleteFunc(list, func(l line) bool { return l.fromTemplate(said) }), err
}

func (l line) fromTemplate(said map[int64][]string) bool {
	sessions := map[string]map[string]bool{} // by paragraph
	for _, r := range l.rows {
		for _, text := range said[r.Turn] {
			if len(text) < len(r.Content)*3/2 || !strings.Contains(chars.OneLine(text), chars.OneLine(r.Content)) {
				continue
			}
			if sessions[text] == nil {
				sessions[text] = map[string]bool{}
			}
			if sessions[text][r.Session] = true; len(sessions[text]) >= sameInTemplate {
				return true
			}
		}
	}
	return false
}

// sessions returns in how many sessions a line was said.
func (l line) sessions() int {
	keys := map[string]bool{}
	for _, row := range l.rows {
		keys[cmp.Or(row.Session, row.ID)] = true
	}
	return len(keys)
}

// kept reports whether a person has looked at the line and kept it.
func (l line) kept() bool {
	return slices.ContainsFunc(l.rows, func(r Memory) bool { return r.Source == sourceProfile })
}

// shown is a line as a person is shown it: with when it was said last, how often, and where it holds.
func (l line) shown() Memory {
	m := l.latest()
	m.Said, m.Scope, m.Kept = len(l.rows), stated.ScopeOf(m.Content), l.kept()
	switch {
	case m.Scope != "":
	case m.Personal || m.Project == "":
		m.Scope = "everywhere"
	default:
		m.Scope = "project"
	}
	return m
}

// latest is a line with the ids of all that say it, dated as the last of them.
func (l line) latest() Memory {
	m := l.rows[0]
	for _, row := range l.rows {
		m.Sayings = append(m.Sayings, row.ID)
		if row.Created.After(m.Created) {
			m.Created = row.Created
		}
	}
	return m
}

// Profile returns what a person has pinned, and then the lines, the newest first.
func (s *Store) Profile(ctx context.Context, f Filter) ([]Memory, error) {
	in := Query{Project: f.Project, AllProjects: f.Project == "" && !f.Within}
	found, err := s.pins(ctx, in, maxProfileRows)
	if err != nil {
		return nil, sqlite.While("reading the profile", err)
	}
	for i := range found {
		found[i] = line{rows: []Memory{found[i]}}.shown()
	}
	list, err := s.profile(ctx, s.db, in)
	for _, l := range list {
		found = append(found, l.shown())
	}
	found = found[min(f.Offset, len(found)):]
	return found[:min(cmp.Or(f.Limit, len(found)), len(found))], sqlite.While("reading the profile", err)
}

// sameLine returns the other rows of the line that a memory is a row of.
func (s *Store) sameLine(ctx context.Context, q sqlite.Querier, m Memory) (others []Memory, err error) {
	list, err := s.profile(ctx, q, Query{Project: m.Project})
	for _, l := range list {
		if !slices.ContainsFunc(l.rows, func(row Memory) bool { return row.ID == m.ID }) {
			continue
		}
		for _, row := range l.rows {
			if row.ID != m.ID {
				others = append(others, row)
			}
		}
	}
	return others, err
}

// chosen returns the lines that a first prompt gets: those that share words with it, and then those that concern
// any prompt most, the newest first. further are others that it recalls.
func chosen(list []line, q *rank.Query, in Query) (told, further []memory.Item) {
	held := make(map[string]float64, len(list))
	for _, l := range list {
		held[l.rows[0].ID] = max(q.Held(l.terms), aside*q.Held(stated.Concerns(l.terms)))
	}
	slices.SortStableFunc(list, func(a, b line) int {
		if a.again != b.again { // it is told always
			if a.again {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(held[b.rows[0].ID], held[a.rows[0].ID]), cmp.Compare(b.reach(), a.reach()))
	})
	left := maxProfileBytes
	for _, l := range list {
		m := l.latest()
		it := m.item()
		it.Text, it.Score = clip(m.Content, maxLine), held[m.ID]
		switch {
		case slices.ContainsFunc(append(m.Sayings, m.Content),
			func(name string) bool { return slices.Contains(in.seen, name) }):
		case len(told) < maxProfile && it.Size() <= left:
			left -= it.Size()
			told = append(told, it)
		case len(further) < maxFurther && it.Score >= MinRecalled:
			further = append(further, it)
		}
	}
	return ownProject(told, in.Project), ownProject(further, in.Project)
}

// reach says how far a line concerns a prompt that it shares no word with: what a person has kept most, then how they
// want to be answered, what to do, and what to remember least.
func (l line) reach() int {
	m := l.rows[0]
	switch {
	case l.kept():
		return 3
	case m.Personal:
		return 2
	case m.Type != stated.Fact:
		return 1
	}
	return 0
}

// NewInProfile returns the lines that nobody was shown yet, and notes that they are shown now.
func (s *Store) NewInProfile(ctx context.Context) ([]Memory, error) {
	fresh, err := sqlite.Collect(ctx, s.db, sqlite.One[string], `SELECT m.uid FROM memories m WHERE m.announced = 0
		AND `+inProfile)
	if err != nil || len(fresh) == 0 {
		return nil, sqlite.While("looking for what is new", err)
	}
	all, err := s.Profile(ctx, Filter{})
	if err == nil {
		err = sqlite.Write(ctx, s.db, "noting what was shown", func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE memories SET announced = 1
				WHERE uid IN (SELECT value FROM json_each(?))`, sqlite.List(fresh))
			return err
		})
	}
	return slices.DeleteFunc(all, func(m Memory) bool {
		return m.Kept || slices.ContainsFunc(m.Sayings, func(id string) bool { return !slices.Contains(fresh, id) })
	}), err
}

// pinned returns what a person has pinned: all that a session is told whatever its prompt, the newest first.
func (s *Store) pinned(ctx context.Context, project string) ([]memory.Item, error) {
	pins, err := s.pins(ctx, Query{Project: project}, maxPinned)
	var items []memory.Item
	for _, m := range pins {
		items = append(items, m.item())
	}
	return ownProject(items, project), err
}

// pins returns what is pinned where a session of a project may see it, or of all projects.
func (s *Store) pins(ctx context.Context, in Query, most int) ([]Memory, error) {
	return sqlite.Collect(ctx, s.db, scanMemory, s.across(`SELECT `+memoryColumns+` FROM memories m
		WHERE m.source = ? AND (?2 OR m.project IN (?3, '') OR m.personal)
		ORDER BY m.created DESC, m.id DESC LIMIT ?4`), Pinned, in.AllProjects, in.Project, most)
}
