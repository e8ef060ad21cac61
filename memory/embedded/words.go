package embedded

import (
	"context"
	"encoding/json"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// maxOfSession is how many of the user's short passages of one session are ranked, the newest.
const maxOfSession = 60

// words returns the user's short passages by how well they bear on the prompt, those of the best sessions among them;
// none where the best passages are talk.
func (s *Store) words(ctx context.Context, q *rank.Query, ranked []*rank.Passage, in search) ([]*rank.Passage, error) {
	if !rank.AtWork(ranked) {
		return nil, nil
	}
	sessions, err := json.Marshal(q.Sessions())
	if err != nil {
		return nil, err
	}
	ids, err := sqlite.Collect(ctx, s.db, sqlite.One[int64], `SELECT p.id FROM json_each(?9) j
		JOIN passages p ON p.id IN (SELECT id FROM passages WHERE thread = j.value AND origin = 'user'
			AND turn IS NOT NULL ORDER BY position DESC LIMIT ?1)
		LEFT JOIN memories m ON m.id = p.memory WHERE true`+scope,
		append(in.scope(maxOfSession), string(sessions))...)
	var more []*rank.Passage
	if err == nil && len(ids) > 0 {
		more, err = s.rows(ctx, q, ids, 0, in)
	}
	return q.Words(ranked, more), err
}
