package correlation

import (
	"context"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// titleLength is how many characters of a first prompt are read for a title.
const titleLength = 400

// FirstWords returns the beginning of the first prompt, by session. Sessions without a turn are missing. Sessions that
// a session continues do not count.
func (s *Store) FirstWords(ctx context.Context) (map[int64]string, error) {
	type first struct {
		session int64
		words   string
	}
	all, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (f first, err error) {
		return f, row.Scan(&f.session, &f.words)
	}, `SELECT session, substr(user, 1, ?) FROM turns
		WHERE id IN (SELECT min(id) FROM turns GROUP BY session)`, titleLength)
	found := make(map[int64]string, len(all))
	for _, f := range all {
		found[f.session] = f.words
	}
	return found, sqlite.While("reading first prompts", err)
}

// Mentioning returns the sessions in which a word was said, by either side, in letters of any case.
func (s *Store) Mentioning(ctx context.Context, word string) (map[int64]bool, error) {
	ids, err := sqlite.Collect(ctx, s.db, sqlite.One[int64],
		`SELECT DISTINCT session FROM turns
			WHERE instr(lower(user), lower(?1)) > 0 OR instr(lower(assistant), lower(?1)) > 0`, word)
	found := make(map[int64]bool, len(ids))
	for _, id := range ids {
		found[id] = true
	}
	return found, sqlite.While("looking for a word", err)
}
