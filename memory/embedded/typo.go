package embedded

import (
	"context"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A word that nobody ever said may be one that was mistyped: a letter too many, too few, another or two swapped. Or it
// is a commit's hash, of which people type the beginning.

const (
	maxTypos    = 3     // words of a prompt that are taken for mistyped ones
	minTypo     = 6     // bytes of such a word; a shorter one has too many neighbours
	typoStart   = 3     // bytes of its beginning that are taken to be right
	maxLikeTypo = 1_000 // words with that beginning that are looked at
	lengthHash  = 40    // of a commit
)

// shortHash is the beginning of a commit's hash: it has digits and letters.
var shortHash = pattern.New(`^([a-f]+\d|\d+[a-f])[0-9a-f]*$`)

// mendTypos returns the words of a prompt that nobody ever said the forms of words that they may stand for. lists has
// for each of q.Terms the passages that have it, and gets those of the mended ones.
func (s *Store) mendTypos(ctx context.Context, q *rank.Query, lists [][]int64, most int) error {
	mended := 0
	for i, t := range q.Terms {
		if len(lists[i]) > 0 || t.Pair || len(t.Forms[0]) < minTypo || mended == maxTypos {
			continue
		}
		word := t.Forms[0]
		start, longest := word[:typoStart], len(word)+1
		hash := len(word) > minTypo && shortHash().MatchString(word)
		if hash {
			start, longest = word, lengthHash
		}
		like, err := sqlite.Collect(ctx, s.db, sqlite.One[string], `SELECT term FROM (SELECT term FROM passages_terms
			WHERE term >= ?1 AND term < ?1 || char(1114111) LIMIT ?2) WHERE octet_length(term) BETWEEN ?3 - 1 AND ?4`,
			start, maxLikeTypo, len(word), longest)
		if err != nil {
			return err
		}
		like = slices.DeleteFunc(like, func(other string) bool { return !hash && !oneTypo(word, other) })
		if len(like) == 0 {
			continue
		}
		mended++
		q.Terms[i].Forms = append(t.Forms, like...)
		found, err := s.entries(ctx, "", q.Terms[i:i+1], most)
		if err != nil {
			return err
		}
		lists[i] = found[0]
	}
	return nil
}

// oneTypo reports whether two words differ by one letter that is too many, missing or another, or by two neighbours
// that are swapped. Digits are no typos: other numbers are other things.
func oneTypo(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if a == b || len(b)-len(a) > 1 {
		return false
	}
	first := 0
	for first < len(a) && a[first] == b[first] {
		first++
	}
	digit := func(s string, i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }
	if digit(a, first) || digit(b, first) {
		return false
	}
	if len(a) < len(b) {
		return a[first:] == b[first+1:]
	}
	return a[first+1:] == b[first+1:] ||
		first+1 < len(a) && a[first] == b[first+1] && a[first+1] == b[first] && a[first+2:] == b[first+2:]
}
