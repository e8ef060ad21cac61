package embedded

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// How passages are looked up: only ids are read from the index until it is known which are the best; then the rows of
// these and of their neighbours, in one query. So a common term costs no more than a rare one.

const (
	// maxEntries is how many entries of the index are read to find passages, the newest; commoner terms only add to the
	// scores of what the rarer ones find.
	maxEntries = 8_000

	maxCounted  = 4_000  // entries read to count the frequency of one term,
	countedOver = 40_000 // and of all terms; beyond that it is estimated
	maxLooked   = 1_000  // ids, best first, that are checked for whether the session may see them
	maxHits     = 120    // passages that are found by their own words
	seeds       = 60     // of these, the best that are ranked with their neighbours
	maxDated    = 300    // passages of the days that a question names
)

// candidates returns the passages that may answer the query, and their neighbours.
func (s *Store) candidates(ctx context.Context, q *rank.Query, in Query) ([]*rank.Passage, error) {
	most := max(min(maxCounted, countedOver/max(len(q.Terms), 1)), 2)
	looking, done := in.share(ctx, lookShare)
	lists, err := s.entries(looking, "", q.Terms, most)
	if err == nil {
		err = unlessLate(s.mendTypos(looking, q, lists, most))
	}
	if done(); err != nil {
		return nil, err
	}
	var passages, terms float64
	if err := s.db.QueryRowContext(ctx, `SELECT (SELECT n FROM passages_index WHERE kind = 'passages'), n
		FROM passages_index WHERE kind = 'terms'`).Scan(&passages, &terms); err != nil {
		return nil, err
	}
	docs := make([]int, len(lists))
	for i, ids := range lists {
		docs[i] = min(passageCount(ids, most), int(passages))
		if len(ids) == most {
			lists[i] = nil // there may be more: if it is looked for by this term, they are read again
		}
	}
	q.Weigh(docs, passages, terms)
	finding, done := in.share(ctx, findShare)
	ids, err := s.candidateIDs(finding, q, lists, in)
	if done(); err != nil || len(ids) == 0 {
		return nil, err
	}
	reading, done := in.share(ctx, readShare)
	defer done()
	return s.rows(reading, q, ids, max(seeds, 2*in.Limit), in)
}

// passageCount returns a term's frequency: how many passages have it. ids are the newest of them, the newest first, at
// most read; where there are so many, the count is estimated by how close together they lie.
func passageCount(ids []int64, read int) int {
	if len(ids) < read {
		return len(ids)
	}
	return int(int64(read) * ids[0] / (ids[0] - ids[read-1]))
}

// candidateIDs returns the ids of passages that the terms and the days of a question find, best first. known has, by
// the place of a term, all ids of passages with it, or nil where they were not all read.
func (s *Store) candidateIDs(ctx context.Context, q *rank.Query, known [][]int64, in Query) ([]int64, error) {
	found, enough, err := s.matchingIDs(ctx, q, known, in, "")
	if err == nil && !enough { // what may be seen is little of the index
		found, _, err = s.matchingIDs(ctx, q, nil, in, within(in.Project))
	}
	if err != nil || !q.Dated || len(found) > 0 && q.Days.Days() > 31 {
		return found, err
	}
	dated, err := sqlite.Collect(ctx, s.db, sqlite.One[int64], `SELECT p.id FROM passages p
		LEFT JOIN memories m ON m.id = p.memory
		WHERE p.created >= ?9 AND p.created < ?10`+s.across(scope)+` ORDER BY p.created, p.position LIMIT ?1`,
		append(in.scope(maxDated), q.Days.From.UnixMilli(), q.Days.To.UnixMilli())...)
	for _, id := range dated { // high enough that they are ranked with their neighbours
		if at := slices.Index(found, id); at < 0 || at >= seeds {
			found = slices.Insert(found, min(seeds/2, len(found)), id)
		}
	}
	return found, err
}

// matchingIDs returns the ids of passages that have terms of a question, best first; enough says that no more are
// needed, or that there are none.
// narrow is a further condition in FTS5's query language.
func (s *Store) matchingIDs(ctx context.Context, q *rank.Query, known [][]int64, in Query, narrow string) (
	found []int64, enough bool, err error) {
	terms := q.Rarest(maxEntries)
	if len(terms) == 0 {
		return nil, true, nil
	}
	lists := make([][]int64, len(terms))
	var missing []*[]int64
	var unread []language.Term
	for i, a := range terms {
		if known != nil && known[a.Place] != nil {
			lists[i] = known[a.Place]
			continue
		}
		missing, unread = append(missing, &lists[i]), append(unread, a.Term)
	}
	read, err := s.entries(ctx, narrow, unread, maxEntries)
	if err != nil {
		return nil, false, err
	}
	for i, list := range missing {
		*list = read[i]
	}
	entries := 0
	for _, ids := range lists {
		entries += len(ids)
	}
	scores := make(map[int64]float64, entries)
	for i, t := range terms {
		for _, id := range lists[i] {
			scores[id] += t.IDF
		}
	}
	best := topScored(scores, maxLooked)
	hits := max(maxHits, 2*in.Limit)
	found, err = s.visible(ctx, in, best, hits)
	return found, len(found) == hits || len(best) < maxLooked, err
}

// topScored returns the ids with the highest scores, of equal ones the newer first. It groups by score, because there
// are few different ones: they are sums over a few terms.
func topScored(scores map[int64]float64, most int) []int64 {
	equals := map[float64][]int64{}
	for id, score := range scores {
		equals[score] = append(equals[score], id)
	}
	ids := make([]int64, 0, min(len(scores), most))
	for _, score := range slices.Backward(slices.Sorted(maps.Keys(equals))) {
		list := equals[score]
		slices.Sort(list)
		slices.Reverse(list)
		ids = append(ids, list[:min(len(list), most-len(ids))]...)
	}
	return ids
}

// scope is the condition of what a search may see; its parameters are those of Query.scope.
const scope = ` AND (?2 OR p.personal OR p.project IN (?3, '')) AND (?4 = '' OR coalesce(m.type, 'said') = ?4)
	AND (m.key IS NULL OR m.key = '' OR m.key NOT IN (?5, ?6))
	AND p.thread NOT IN (SELECT value FROM json_each(?7)) AND (NOT ?8 OR p.thread <> 0)`

func (in Query) scope(most int) []any {
	return []any{most, in.AllProjects, in.Project, in.Type, in.keys[0], in.keys[1], sqlite.List(in.sessions), in.said}
}

// visible keeps of some ids, in their order, those that a search may see, at most most.
func (s *Store) visible(ctx context.Context, in Query, ids []int64, most int) ([]int64, error) {
	return sqlite.Collect(ctx, s.db, sqlite.One[int64], `SELECT p.id FROM json_each(?9) j
		CROSS JOIN passages p ON p.id = j.value LEFT JOIN memories m ON m.id = p.memory WHERE true`+
		s.across(scope)+` LIMIT ?1`, append(in.scope(most), sqlite.List(ids))...)
}

// rows reads passages for ranking, the first n of the ids with their neighbours, which are ranked as well. When the
// deadline passes it returns what it has.
func (s *Store) rows(ctx context.Context, q *rank.Query, ids []int64, n int, in Query) ([]*rank.Passage, error) {
	var near strings.Builder // the passages beside each seed, nearest first: each costs one index seek
	for k := range rank.Reach {
		for _, side := range []string{"< s.position ORDER BY position DESC", "> s.position ORDER BY position"} {
			fmt.Fprintf(&near, ` UNION ALL SELECT (SELECT id FROM passages WHERE thread <> 0 AND thread = s.thread
				AND position %s LIMIT 1 OFFSET %d), n, 1 FROM seed s`, side, k)
		}
	}
	rows, err := s.db.QueryContext(ctx, `WITH hit AS MATERIALIZED (SELECT value AS id, key AS n FROM json_each(?1)),
		seed AS MATERIALIZED (SELECT p.thread, p.position, n FROM hit JOIN passages p ON p.id = hit.id
			WHERE n < ?2 AND p.thread <> 0),
		near AS (SELECT id, n, n < ?2 AS found FROM hit`+near.String()+`),
		every AS MATERIALIZED (SELECT id, max(found) AS found FROM near GROUP BY id ORDER BY min(n))
		SELECT p.id, every.found, p.thread, p.position, p.created, p.traits, coalesce(p.turn, 0),
			p.who IN ('typed', 'pasted', 'quoted', 'file') AND p.turn IS NOT NULL,
			octet_length(p.content), p.length,
			iif(p.project = '', 1, iif(p.project = ?3, 0, 2)), p.rating, c.c0, c.c1
		FROM every CROSS JOIN passages p ON p.id = every.id CROSS JOIN passages_fts_content c ON c.id = p.id`,
		sqlite.List(ids), n, in.Project)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := make([]*rank.Passage, 0, 8*n)
	for rows.Next() {
		p := new(rank.Passage)
		var created int64
		var content string
		var about sql.RawBytes
		if err := rows.Scan(&p.ID, &p.Found, &p.Thread, &p.Position, &created, &p.Traits, &p.Turn, &p.ByUser,
			&p.Size, &p.Length, &p.Whose, &p.Rating, &content, &about); err != nil {
			return nil, err
		}
		p.Created = time.UnixMilli(created).UTC()
		q.Read(p, content, about)
		all = append(all, p)
	}
	if err := rows.Err(); err != nil && !(timedOut(err) && len(all) > 0) {
		return nil, err
	}
	return all, nil
}
