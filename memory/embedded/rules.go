package embedded

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/stated"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Rules are what the user wants of an agent until the user says otherwise. Each row of a memory is what one turn said;
// rows that say the same are one rule. A wish is a rule once it was said in several sessions.

const (
	maxRuleRows   = 400 // of a project, the newest
	sessionsOfOne = 3   // in which a wish is said that is a rule
	maxRules      = 3   // that a prompt is told
	turnShare     = .6  // how much counts what else was said in the rule's turn,
	minOfRule     = .25 // share of the prompt that a rule holds to be told,
	minAtWork     = .15 // and where the best of what was found is work
	ownPassages   = 4   // of a prompt: what follows is mostly pasted
)

// A rule is the rows that say it, the one that is shown first.
type rule struct {
	rows  []ruleRow
	terms []string // of the first
}

type ruleRow struct {
	Memory
	turn int64
}

// rules returns what stands as a rule among the memories that a session of a project may see, the newest first; of all
// projects where all is set.
func (s *Store) rules(ctx context.Context, q sqlite.Querier, project string, all bool) ([]rule, error) {
	rows, err := s.ruleRows(ctx, q, search{project: project, all: all}, "")
	return grouped(rows), err
}

// ofTurns narrows rules to those that were said in some turns, and those that hold whatever was said.
const ofTurns = ` AND (m.turn IS NULL OR m.personal OR m.turn IN (SELECT value FROM json_each(?6)))`

// ruleRows reads rules, the newest first; only is a further condition, with its parameters.
func (s *Store) ruleRows(ctx context.Context, q sqlite.Querier, in search, only string,
	values ...any) ([]ruleRow, error) {
	return sqlite.Collect(ctx, q, func(row sqlite.Row) (r ruleRow, err error) {
		r.Memory, err = scanMemory(trailingColumns{row, []any{&r.turn}})
		return r, err
	}, s.across(`SELECT `+memoryColumns+`, coalesce(m.turn, 0) FROM memories m INDEXED BY memories_rules
		WHERE m.type IN ('rule', 'preference', 'wish') AND m.origin = 'user'
			AND (?2 OR m.project IN (?1, '') OR m.personal) AND (m.key = '' OR m.key NOT IN (?3, ?4))`+only+`
		ORDER BY m.created DESC, m.id DESC LIMIT ?5`),
		append([]any{in.project, in.all, in.keys[0], in.keys[1], maxRuleRows}, values...)...)
}

// grouped makes rules of their rows.
func grouped(rows []ruleRow) (list []rule) {
	for _, r := range rows {
		terms := language.Terms(r.Content)
		at := slices.IndexFunc(list, func(have rule) bool {
			first := have.rows[0]
			return stated.Same(have.terms, terms) && (first.Project == r.Project || first.Personal || r.Personal)
		})
		if at < 0 {
			list = append(list, rule{[]ruleRow{r}, terms})
			continue
		}
		have := &list[at]
		have.rows = append(have.rows, r)
		if last := len(have.rows) - 1; have.rows[0].Type == wish && r.Type != wish {
			have.rows[0], have.rows[last], have.terms = have.rows[last], have.rows[0], terms
		}
	}
	return list
}

// stands reports whether it is a rule: a wish is one once it was said in several sessions.
func (r rule) stands() bool { return r.rows[0].Type != wish || r.sessions() >= sessionsOfOne }

const wish = string(stated.Wish)

// sessions returns in how many sessions a rule was said.
func (r rule) sessions() int {
	keys := map[string]bool{}
	for _, row := range r.rows {
		keys[cmp.Or(row.Session, row.ID)] = true
	}
	return len(keys)
}

// shown is a rule as a person is shown it: with when it was said last, how often, and where it holds.
func (r rule) shown() Memory {
	m := r.rows[0].Memory
	m.Said, m.Scope = len(r.rows), stated.ScopeOf(m.Content)
	for _, row := range r.rows {
		m.Sayings = append(m.Sayings, row.ID)
		if row.Created.After(m.Created) {
			m.Created = row.Created
		}
	}
	switch {
	case m.Scope != "":
	case m.Personal || m.Project == "":
		m.Scope = "everywhere"
	default:
		m.Scope = "project"
	}
	return m
}

// sameRule returns the other rows of the rule that a memory is a row of.
func (s *Store) sameRule(ctx context.Context, q sqlite.Querier, m Memory) (others []Memory, err error) {
	list, err := s.rules(ctx, q, m.Project, false)
	for _, r := range list {
		if !slices.ContainsFunc(r.rows, func(row ruleRow) bool { return row.ID == m.ID }) {
			continue
		}
		for _, row := range r.rows {
			if row.ID != m.ID {
				others = append(others, row.Memory)
			}
		}
	}
	return others, err
}

// turnsOf returns the turns of passages.
func turnsOf(list []*rank.Passage) []int64 {
	turns := make([]int64, 0, len(list))
	for _, p := range list {
		if p.Turn != 0 {
			turns = append(turns, p.Turn)
		}
	}
	return turns
}

// recallRules returns the rules that concern a prompt most, at most maxRules. Where nothing that was found is told,
// these are the rules for the work that the prompt asks for: "before you commit".
func (s *Store) recallRules(ctx context.Context, q *rank.Query, ranked []*rank.Passage,
	in search) ([]memory.Item, error) {
	rows, err := s.rulesFor(ctx, q, ranked, in)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	list := grouped(rows)
	turns, err := s.userTerms(ctx, list)
	if err != nil {
		return nil, err
	}
	needed := minOfRule
	if rank.AtWork(ranked) {
		needed = minAtWork
	}
	var items []memory.Item
	for _, r := range list {
		around := 0.0
		for _, row := range r.rows {
			around = max(around, q.Held(turns[row.turn]))
		}
		held := q.Held(r.terms) + turnShare*around
		if len(ranked) > 0 && held < needed && !asksFor(q, r.rows[0].Content) {
			continue
		}
		m := r.shown()
		if slices.Contains(in.seen, m.ID) || slices.Contains(in.seen, m.Content) {
			continue
		}
		it := m.item()
		it.Score, it.Text = held, clip(m.Content, maxOfRule)
		it.About = fmt.Sprintf("said by the user on %s", m.Created.UTC().Format("2006-01-02"))
		if n := r.sessions(); n > 1 {
			it.About += fmt.Sprintf(", in %d sessions", n)
		}
		items = append(items, it)
	}
	slices.SortStableFunc(items, func(a, b memory.Item) int { return cmp.Compare(b.Score, a.Score) })
	return items[:min(len(items), maxRules)], nil
}

// rulesFor reads the rules that may concern a prompt: those of the turns that were found, or, where nothing is told,
// those for the work that it asks for.
func (s *Store) rulesFor(ctx context.Context, q *rank.Query, ranked []*rank.Passage, in search) ([]ruleRow, error) {
	if len(ranked) > 0 {
		return s.ruleRows(ctx, s.db, in, ofTurns, sqlite.List(turnsOf(ranked)))
	}
	var has []string // the beginning of one of the prompt's words
	var begins []any
	for _, word := range q.Sought() {
		runes := []rune(word)
		begins = append(begins, "%"+string(runes[:min(len(runes), minBeginning)])+"%")
		has = append(has, fmt.Sprintf("m.content LIKE ?%d", 5+len(begins)))
	}
	if len(has) == 0 {
		return nil, nil
	}
	rows, err := s.ruleRows(ctx, s.db, in, " AND ("+strings.Join(has, " OR ")+")", begins...)
	return slices.DeleteFunc(rows, func(r ruleRow) bool { return !asksFor(q, r.Content) }), err
}

// asksFor reports whether a prompt asks for the work that a rule is for.
func asksFor(q *rank.Query, rule string) bool { return q.HasAll(language.Terms(stated.WorkOf(rule))) }

const maxOfRule = 200 // bytes that are told of a rule

// userTerms returns the terms of what the user said in the turns of rules, by the turn.
func (s *Store) userTerms(ctx context.Context, list []rule) (map[int64][]string, error) {
	var turns []int64
	for _, r := range list {
		for _, row := range r.rows {
			turns = append(turns, row.turn)
		}
	}
	terms := map[int64][]string{}
	err := sqlite.Each(ctx, s.db, func(row sqlite.Row) error {
		var turn int64
		var content string
		err := row.Scan(&turn, &content)
		terms[turn] = append(terms[turn], strings.Fields(content)...)
		return err
	}, `SELECT p.turn, c.c0 FROM json_each(?) j JOIN passages p ON p.turn = j.value
		JOIN passages_fts_content c ON c.id = p.id
		WHERE p.origin = 'user' AND p.position < p.turn * ?2 + ?3`, sqlite.List(turns), positionsOfTurn, ownPassages)
	return terms, err
}
