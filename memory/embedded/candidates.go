package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A search says what to look for, and what may be seen.
type search struct {
	text    string
	project string
	keys    [2]string // of the session that asks and of the one that it was forked from: what they said is left out
	all     bool      // of other projects too
	kind    string    // the type; empty: any
	seen    []string  // ids and texts that are left out
	most    int
	unasked bool // nobody asked for it: what does not concern the prompt is left out
}

// A candidate is a passage as it is ranked.
type candidate struct {
	id       int64
	thread   int64
	position float64
	created  time.Time
	traits   traits
	length   float64
	whose    int // ours, of any project, of another
	given    int
	used     int
	rating   float64
	found    bool   // by itself, not as a neighbour
	content  string // its terms

	weights [mostAsked]float32 // of each asked term, saturating (BM25)
	terms   uint32             // which of them it has, a bit each
	matched int                // different terms
	pairs   int                // of terms that follow each other in the question, too
	opens   bool               // begins with a name that the question names
	shared  int                // names of the question in it
	own     float64
	features
	wide     float64 // what it and a wider neighbourhood hold of the question
	met      float64 // terms of the question in it and beside it
	named    bool    // an identifier among them
	score    float64
	outdated bool         // a newer one says that it is not so any more
	near     []*candidate // itself and its neighbours
}

const (
	seeds       = 60  // passages that are ranked with their neighbours
	seedsLarge  = 100 // in an index of more than largeIndex
	largeIndex  = 50_000
	mostHits    = 120 // passages of which is learned how much their conversations say
	reach       = 3   // neighbours on each side
	mostChanges = 10  // passages that say that something changed, found beside the others
	mostDated   = 300 // passages of the days that a question names
)

// candidates gives the passages that may answer, and their neighbours. It keeps what it has when time runs out.
func (s *Store) candidates(ctx context.Context, q *query, in search) ([]*candidate, error) {
	ids, err := s.hits(ctx, q, in)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	n := seeds
	if q.texts > largeIndex {
		n = seedsLarge
	}
	return s.rows(ctx, q, ids, max(n, 2*in.most), in)
}

// rows reads passages, the neighbours of the first n with them.
func (s *Store) rows(ctx context.Context, q *query, ids []int64, n int, in search) ([]*candidate, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.QueryContext(ctx, `WITH hit AS MATERIALIZED (SELECT value AS id, key AS n FROM json_each(?1)),
		seed AS MATERIALIZED (SELECT p.id, p.thread, p.position FROM hit JOIN passages p ON p.id = hit.id WHERE n < ?2
		AND p.thread <> 0),
		near AS (SELECT id, n < ?2 AS found, 0 AS late FROM hit
			`+neighbours()+`)
		SELECT p.id, near.found, near.late, p.thread, p.position, p.created, p.traits, p.length, iif(p.project = '', 1, iif(p.project = ?3, 0, 2)), p.given, p.used, p.rating, c.c0, c.c1
		FROM near CROSS JOIN passages p ON p.id = near.id CROSS
		JOIN passages_fts_content c ON c.id = p.id`, string(list), n, in.project)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := make([]*candidate, 0, 8*n)
	at := make(map[int64]*candidate, 8*n)
	for rows.Next() {
		c := new(candidate)
		var beside bool
		var created int64
		var content, about sql.RawBytes
		if err := rows.Scan(&c.id, &c.found, &beside, &c.thread, &c.position, &created, &c.traits, &c.length, &c.whose,
			&c.given, &c.used, &c.rating, &content, &about); err != nil {
			return nil, err
		}
		if have := at[c.id]; have != nil {
			have.found = have.found || beside // a neighbour is ranked as well
			continue
		}
		c.found = c.found || beside
		c.created = time.UnixMilli(created).UTC()
		c.content = string(content)
		q.read(c, content, about)
		at[c.id] = c
		all = append(all, c)
	}
	if err := rows.Err(); err != nil && !(late(err) && len(all) > 0) {
		return nil, err
	}
	return all, nil
}

// neighbours are the passages beside a seed, by how far they are: an index seek each.
func neighbours() string {
	var b strings.Builder
	for k := range reach {
		for _, side := range []string{"< s.position ORDER BY position DESC", "> s.position ORDER BY position"} {
			fmt.Fprintf(&b, ` UNION ALL SELECT (SELECT id FROM passages WHERE thread <> 0 AND thread = s.thread AND position %s
				LIMIT 1 OFFSET %d), 0, 1 FROM seed s`, side, k)
		}
	}
	return b.String()
}

// late reports whether time ran out.
func late(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "interrupted")
}

// scope is what a search may see.
const scope = ` AND (?2 OR p.personal OR p.project IN (?3, '')) AND (?4 = '' OR coalesce(m.type, 'said') = ?4)
	AND p.thread NOT IN (SELECT session FROM session_keys WHERE key IN (?5, ?6))
	AND (m.key IS NULL OR m.key = '' OR m.key NOT IN (?5, ?6))`

// hits gives the ids of what the terms and the days of a question find, best first.
func (s *Store) hits(ctx context.Context, q *query, in search) ([]int64, error) {
	var ids []int64
	if q.dated && (q.match == "" || q.days.Days() <= 31) {
		dated, err := sqlite.Collect(ctx, s.db, scanInt, `SELECT p.id FROM passages p LEFT JOIN memories m ON m.id = p.memory
			WHERE p.created >= ?7 AND p.created < ?8`+scope+` ORDER BY p.created, p.position LIMIT ?1`,
			mostDated, in.all, in.project, in.kind, in.keys[0], in.keys[1], q.days.From.UnixMilli(), q.days.To.UnixMilli())
		if err != nil {
			return nil, err
		}
		ids = dated
	}
	if q.match == "" {
		return ids, nil
	}
	match := q.match
	if !in.all {
		narrow, err := s.fewIn(ctx, q, in.project)
		if err != nil {
			return nil, err
		}
		if narrow {
			match = "scope : (" + quote(projectTerm(in.project)) + " OR " + quote(anyProject) + ") AND " + match
		}
	}
	found, err := s.matching(ctx, in, match, max(mostHits, 2*in.most))
	if err != nil {
		return nil, err
	}
	if len(found) > seeds { // what changed is short, and long talk of what was stands before it
		changed, err := s.matching(ctx, in, "scope : "+quote(changeTerm)+" AND "+q.rarest, mostChanges)
		if err != nil {
			return nil, err
		}
		ids = append(ids, changed...)
	}
	for _, id := range ids {
		if at := slices.Index(found, id); at < 0 || at >= seeds {
			found = slices.Insert(found, min(seeds/2, len(found)), id)
		}
	}
	return found, nil
}

// matching gives the ids of what an FTS5 query finds, best first by BM25.
func (s *Store) matching(ctx context.Context, in search, match string, most int) ([]int64, error) {
	return sqlite.Collect(ctx, s.db, scanInt, `SELECT f.rowid FROM passages_fts f CROSS JOIN passages p ON p.id = f.rowid
		LEFT JOIN memories m ON m.id = p.memory
		WHERE passages_fts MATCH ?7 AND rank MATCH 'bm25(1.0, 0.4, 0.0)'`+scope+` ORDER BY rank
		LIMIT ?1`, most, in.all, in.project, in.kind, in.keys[0], in.keys[1], match)
}

func scanInt(row sqlite.Row) (n int64, err error) { return n, row.Scan(&n) }

// fewIn reports whether a project and what is of any hold so little of the index that it pays to look for them by
// their terms.
func (s *Store) fewIn(ctx context.Context, q *query, project string) (bool, error) {
	var n float64
	err := s.db.QueryRowContext(ctx, `SELECT coalesce(sum(doc), 0) FROM passages_terms WHERE term IN (?, ?)`,
		projectTerm(project), anyProject).Scan(&n)
	return n < q.texts/10, err
}
