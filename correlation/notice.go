package correlation

import (
	"context"
	"errors"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Once reports whether it is called for the first time with this name on this database: a person is told some things
// once.
func (s *Store) Once(ctx context.Context, name string) (bool, error) {
	told := false
	err := s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM notices WHERE name = ?)`, name).Scan(&told)
	if told || err != nil {
		return false, sqlite.While("looking up what was told", err)
	}
	err = s.mustChange(ctx, "noting what was told", errTold, `INSERT INTO notices (name, at) VALUES (?, ?)
		ON CONFLICT DO NOTHING`, name, sqlite.Stamp(s.now()))
	if errors.Is(err, errTold) {
		return false, nil
	}
	return err == nil, err
}

var errTold = errors.New("told already")
