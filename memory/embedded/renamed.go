package embedded

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
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
	const doing = "following renames"
	if s.opts.Renames == nil {
		return nil
	}
	top, err := sqlite.Optional[string](s.db.QueryRowContext(ctx,
		`SELECT project FROM files ORDER BY turn DESC LIMIT 1`))
	if err != nil || top == "" {
		return sqlite.While(doing, err)
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
	isThere := func(path string) bool { return isFile(filepath.Join(top, filepath.FromSlash(path))) }
	paths, err := sqlite.Collect(ctx, s.db, sqlite.One[string], `SELECT path FROM files WHERE project = ? GROUP BY path
		ORDER BY max(turn) DESC LIMIT ?`, top, maxFollowed)
	gone := slices.DeleteFunc(paths, isThere)
	if err != nil || len(gone) == 0 {
		return sqlite.While(doing, err)
	}
	renamed, err := s.opts.Renames(ctx, top)
	if err != nil {
		s.opts.Log.Debug().Err(err).Msg(doing)
		return nil
	}
	for _, path := range gone {
		now := renamed[path]
		for n := 1; n < maxChain && now != "" && !isThere(now); n++ {
			now = renamed[now]
		}
		if !isThere(now) {
			continue
		}
		if err := sqlite.Write(ctx, s.db, doing, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE OR REPLACE files SET path = ? WHERE project = ? AND path = ?`,
				now, top, path)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
