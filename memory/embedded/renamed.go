package embedded

import (
	"context"
	"database/sql"
	"path/filepath"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

const (
	maxFollowed = 300              // files, those touched last, that are looked for
	followAgain = 10 * time.Minute // after which they are looked for again
	maxChain    = 8                // renames of one file
)

// followRenames gives files of the project that was worked on last the paths that they have now, where Options.Renames
// knows them. Of those that are gone nothing is told.
func (s *Store) followRenames(ctx context.Context) error {
	if s.opts.Renames == nil {
		return nil
	}
	top, err := sqlite.Optional[string](s.db.QueryRowContext(ctx,
		`SELECT project FROM files ORDER BY turn DESC LIMIT 1`))
	if err != nil || top == "" {
		return sqlite.While("following renames", err)
	}
	s.mu.Lock()
	due := time.Since(s.followed[top]) > followAgain
	if due {
		s.followed[top] = time.Now()
	}
	s.mu.Unlock()
	if !due {
		return nil
	}
	paths, err := sqlite.Collect(ctx, s.db, sqlite.One[string], `SELECT path FROM files WHERE project = ? GROUP BY path
		ORDER BY max(turn) DESC LIMIT ?`, top, maxFollowed)
	if err != nil {
		return sqlite.While("following renames", err)
	}
	isThere := func(path string) bool { return isFile(filepath.Join(top, filepath.FromSlash(path))) }
	var renamed map[string]string
	for _, path := range paths {
		if isThere(path) {
			continue
		}
		if renamed == nil {
			if renamed, err = s.opts.Renames(ctx, top); err != nil {
				s.opts.Log.Debug().Err(err).Msg("following renames")
				return nil
			}
		}
		now := path
		for range maxChain {
			if now = renamed[now]; now == "" || isThere(now) {
				break
			}
		}
		if now != "" && isThere(now) {
			if err := s.rename(ctx, top, path, now); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) rename(ctx context.Context, project, path, now string) error {
	return sqlite.Write(ctx, s.db, "following renames", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE OR REPLACE files SET path = ? WHERE project = ? AND path = ?`, now,
			project, path)
		return err
	})
}
