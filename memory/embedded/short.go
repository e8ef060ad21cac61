package embedded

import (
	"context"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// minID is the shortest abbreviation of an id, in characters.
const minID = 8

// Short returns the shortest beginning of an id that no other id has, at least minID characters; Get and the others
// take it for the id.
func (s *Store) Short(ctx context.Context, id string) (string, error) {
	const beside = `SELECT max(uid) FROM memories WHERE uid < ?1 UNION ALL SELECT max(uid) FROM passages WHERE uid < ?1
		UNION ALL SELECT min(uid) FROM memories WHERE uid > ?1 UNION ALL SELECT min(uid) FROM passages WHERE uid > ?1`
	neighbours, err := sqlite.Collect(ctx, s.db, sqlite.One[*string], beside, id)
	if err != nil {
		return "", sqlite.While("looking for ids", err)
	}
	need := minID
	for _, other := range neighbours {
		if other == nil {
			continue
		}
		same := 0
		for same < len(id) && same < len(*other) && id[same] == (*other)[same] {
			same++
		}
		need = max(need, same+1)
	}
	return id[:min(need, len(id))], nil
}
