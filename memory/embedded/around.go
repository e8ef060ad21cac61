package embedded

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A Turn is what was said around a passage. Its JSON is what memory_get gives.
type Turn struct {
	At        time.Time `json:"at"`
	User      string    `json:"user"`
	Assistant string    `json:"assistant"`
	// ids of passages of the turns before and after it in the session, by which these are read
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Around returns the turn in which a passage was said, by its id; nil for what was not said in one.
func (s *Store) Around(ctx context.Context, uid string) (*Turn, error) {
	var turn int64
	var t Turn
	err := s.db.QueryRowContext(ctx, `SELECT p.turn,
		coalesce((SELECT uid FROM passages WHERE thread = p.thread AND turn < p.turn
			ORDER BY position DESC LIMIT 1), ''),
		coalesce((SELECT uid FROM passages WHERE thread = p.thread AND turn > p.turn ORDER BY position LIMIT 1), '')
		FROM passages p WHERE p.uid = ? AND p.turn IS NOT NULL`, uid).Scan(&turn, &t.Before, &t.After)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, sqlite.While("looking for a turn", err)
	}
	said, err := correlation.SaidIn(ctx, s.db, turn)
	if err != nil {
		return nil, sqlite.While("reading a turn", err)
	}
	t.At = time.UnixMilli(said.Started).UTC()
	t.User = chars.WithoutBlockMarks(privacy.Redact(said.User))
	t.Assistant = chars.WithoutToolMarks(privacy.Redact(said.Assistant))
	return &t, nil
}
