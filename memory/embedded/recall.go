package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

const (
	mostRecalled   = 5  // items for a prompt; more was measured to help no further
	mostStanding   = 8  // items for a session's start
	mostCandidates = 60 // rows that are ranked
)

// Recall implements memory.Source: what earlier sessions and stored memories say about a prompt, at most five items, nothing when nothing is
// relevant or the database takes more than 100 ms. What the session itself said is not recalled to it.
func (s *Store) Recall(ctx context.Context, session memory.Session, prompt string, seen []string) (memory.Context, error) {
	begun := s.opts.Now()
	ctx, cancel := context.WithTimeout(ctx, recallTime)
	defer cancel()
	c := memory.Context{Source: memory.FromEmbedded, Fetched: begun}
	found, err := s.find(ctx, search{text: prompt, session: session, all: s.opts.OtherProjects, seen: seen, most: mostRecalled, least: leastRecalled})
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			s.opts.Log.Info().Err(err).Str("key", session.Key).Int("bytes", len(prompt)).Msg("prompt goes without recall")
		}
		return c, nil
	}
	for _, f := range found {
		c.Items = append(c.Items, f.item())
	}
	c.Took = s.opts.Now().Sub(begun)
	return c, nil
}

// A search says what to look for, and which memories may be seen.
type search struct {
	text    string
	session memory.Session // its own turns are left out
	all     bool           // of other projects too
	kind    string         // the type; empty: any
	seen    []string       // ids and texts that are left out
	most    int
	least   float64 // the score from which a memory is relevant
}

// A row is a memory as it is ranked.
type row struct {
	Memory
	id, turn int64 // no turn: 0
	score    float64
}

const rowColumns = `m.id, coalesce(m.turn, 0), ` + memoryColumns

func scanRow(from scanner) (r row, err error) {
	r.Memory, err = scanMemory(after{from, []any{&r.id, &r.turn}})
	return r, err
}

// after scans columns before those that its user knows.
type after struct {
	scanner
	first []any
}

func (a after) Scan(dest ...any) error {
	return a.scanner.Scan(append(slices.Clone(a.first), dest...)...)
}

func (r row) item() memory.Item {
	return memory.Item{ID: r.ID, Text: r.Content, Project: r.Project, Origin: r.Origin, Date: r.Created, Score: r.score}
}

// find gives the memories that are relevant to a text, best first.
func (s *Store) find(ctx context.Context, in search) ([]row, error) {
	if ok, err := s.searchable(ctx, s.db); err != nil || !ok {
		return nil, err
	}
	q, err := s.ask(ctx, in.text)
	if err != nil || len(q.match) == 0 {
		return nil, err
	}
	rows, err := s.matching(ctx, in, in.match(q.match), max(mostCandidates, 2*in.most))
	if err != nil {
		return nil, err
	}
	found, err := s.succeed(ctx, s.rank(q, rows, in), in)
	if err != nil {
		return nil, err
	}
	return best(found, in.most), nil
}

// matching gives the rows that an FTS5 query finds, best first by BM25, without what the session said itself.
func (s *Store) matching(ctx context.Context, in search, match string, most int) ([]row, error) {
	return collect(ctx, s.db, scanRow, `SELECT `+rowColumns+` FROM memories_fts f JOIN memories m ON m.id = f.rowid
		WHERE memories_fts MATCH ?1 AND rank MATCH 'bm25(1.0, 0.4, 0.0)' AND (?2 = '' OR m.type = ?2)
			AND m.session NOT IN (SELECT session FROM session_keys WHERE key IN (?3, ?4)) AND (m.key = '' OR m.key NOT IN (?3, ?4))
		ORDER BY rank LIMIT ?5`, match, in.kind, in.session.Key, in.session.ParentKey, most)
}

// standing gives what a session of a project should know from its start: the newest preferences and decisions.
func (s *Store) standing(ctx context.Context, session memory.Session) ([]memory.Item, error) {
	rows, err := collect(ctx, s.db, scanRow, `SELECT `+rowColumns+` FROM memories m
		WHERE m.type IN ('preference', 'decision') AND m.origin = 'user' AND (m.project = ?1 OR m.project = '' OR m.personal)
			AND m.session NOT IN (SELECT session FROM session_keys WHERE key IN (?2, ?3)) AND (m.key = '' OR m.key NOT IN (?2, ?3))
		ORDER BY m.created DESC, m.id DESC LIMIT ?4`, session.Project, session.Key, session.ParentKey, 4*mostStanding)
	if err != nil {
		return nil, err
	}
	var items []memory.Item
	var said []termSet
	for _, r := range rows {
		set := setOf(terms(r.Content))
		if len(items) == mostStanding || memory.Instructs(r.Content) || repeats(set, said) {
			continue
		}
		said = append(said, set)
		items = append(items, r.item())
	}
	return items, nil
}

// frequencies gives in how many memories each term stands, and how many memories there are.
func (s *Store) frequencies(ctx context.Context, list []asked) (df map[string]int, total int, err error) {
	names := make([]string, len(list))
	for i, a := range list {
		names[i] = a.term
	}
	wanted, err := json.Marshal(names)
	if err != nil {
		return nil, 0, err
	}
	type count struct {
		term string
		docs int
	}
	counts, err := collect(ctx, s.db, func(row scanner) (c count, err error) { return c, row.Scan(&c.term, &c.docs) },
		`SELECT term, doc FROM json_each(?) JOIN memories_terms ON term = value`, string(wanted))
	if err != nil {
		return nil, 0, err
	}
	df = make(map[string]int, len(counts))
	for _, c := range counts {
		df[c.term] = c.docs
	}
	err = s.db.QueryRowContext(ctx, `SELECT seq FROM sqlite_sequence WHERE name = 'memories'`).Scan(&total)
	if errors.Is(err, sql.ErrNoRows) {
		return df, 0, nil
	}
	return df, total, err
}

// quote makes a term a string of FTS5's query language.
func quote(term string) string { return `"` + strings.ReplaceAll(term, `"`, `""`) + `"` }
