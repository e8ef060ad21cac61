package embedded

import (
	"context"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

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
			all = append(all, matchQuery(t.Forms))
		default:
			all = append(all, "("+matchQuery(t.Forms)+" OR "+quote(begins)+"*)")
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
