package embedded

// How the full-text index is read: ids alone, of the passages that have a term.

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// entries returns the ids of the passages that have each of some terms, in the order of the terms, the newest first, at
// most most of each. narrow is a further condition in FTS5's query language. When the deadline passes, those of the
// last terms are missing.
func (s *Store) entries(ctx context.Context, narrow string, terms []language.Term, most int) ([][]int64, error) {
	if len(terms) == 0 {
		return nil, nil
	}
	queries := make([]string, len(terms))
	for i, t := range terms {
		queries[i] = narrow + matchQuery(t.Forms...)
	}
	all := make([][]int64, 0, len(queries))
	err := sqlite.Each(ctx, s.db, func(row sqlite.Row) error {
		var ids sql.RawBytes
		if err := row.Scan(&ids); err != nil {
			return err
		}
		all = append(all, numbers(ids))
		return nil
	}, `SELECT (SELECT group_concat(rowid)
			FROM (SELECT rowid FROM passages_fts WHERE passages_fts MATCH j.value ORDER BY rowid DESC LIMIT ?2))
		FROM json_each(?1) j`, sqlite.List(queries), most)
	if err != nil && (!timedOut(err) || len(all) == 0) {
		return nil, err
	}
	return append(all, make([][]int64, len(queries)-len(all))...), nil
}

// numbers reads integers separated by commas, as group_concat writes them.
func numbers(text []byte) []int64 {
	if len(text) == 0 {
		return nil
	}
	list, n := make([]int64, 0, len(text)/4+1), int64(0)
	for _, c := range text {
		if c == ',' {
			list, n = append(list, n), 0
		} else {
			n = 10*n + int64(c-'0')
		}
	}
	return append(list, n)
}

// matchQuery returns a term in FTS5's query language: any of its forms, in which no quotation marks stand.
func matchQuery(forms ...string) string { return `("` + strings.Join(forms, `" OR "`) + `")` }

// within is the condition, in FTS5's query language, that a session of a project may see a passage.
func within(project string) string {
	return "scope : " + matchQuery(projectTerm(project), anyProject) + " AND "
}

// timedOut reports whether an error means that the deadline passed.
func timedOut(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "interrupted")
}

// unlessLate is an error but for that of a deadline that has passed: what is late is left out.
func unlessLate(err error) error {
	if err == nil || timedOut(err) {
		return nil
	}
	return err
}

// maxSaying is how many passages that have a word are looked at, the newest.
const maxSaying = 50_000

// minBeginning is how many bytes of a word find those that begin with it.
const minBeginning = 3

// SessionsSaying returns the sessions in which a word, one of its forms, or a word that begins with it was said, as far
// as their turns are in the index. asked is false for a word that the index does not hold, such as "the".
func (s *Store) SessionsSaying(ctx context.Context, word string) (found map[int64]bool, asked bool, err error) {
	var all []string
	for _, t := range language.Ask(word).Terms {
		switch begins := language.Fold(t.Word); {
		case t.Part:
		case t.Pair || len(begins) < minBeginning:
			all = append(all, matchQuery(t.Forms...))
		default:
			all = append(all, "("+matchQuery(t.Forms...)+` OR "`+begins+`"*)`)
		}
	}
	if len(all) == 0 {
		return nil, false, nil
	}
	ids, err := sqlite.Collect(ctx, s.db, sqlite.One[int64], `SELECT DISTINCT thread FROM passages
		WHERE turn IS NOT NULL AND id IN (SELECT rowid FROM passages_fts WHERE passages_fts MATCH ?
			ORDER BY rowid DESC LIMIT ?)`, "content : ("+strings.Join(all, " AND ")+")", maxSaying)
	found = make(map[int64]bool, len(ids))
	for _, id := range ids {
		found[id] = true
	}
	return found, true, sqlite.While("searching what was said", err)
}
