package correlation

import (
	"context"
	"errors"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Once reports whether a person has not been told name yet, and notes that now they have.
func (s *Store) Once(ctx context.Context, name string) (bool, error) {
	err := s.change(ctx, "noting what was told", errTold, `INSERT INTO notices (name, at) VALUES (?, ?)
		ON CONFLICT DO NOTHING`, name, sqlite.Stamp(s.now()))
	if errors.Is(err, errTold) {
		return false, nil
	}
	return err == nil, err
}

var errTold = errors.New("told already")
