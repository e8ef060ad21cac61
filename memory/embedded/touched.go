package embedded

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

const (
	maxFiles   = 64  // of a turn that are kept
	maxPath    = 300 // bytes of a path from the project's top
	maxCommand = 40  // words of a command that are looked at
)

// filesOf returns the files that the tools of a turn were called with, by their paths from its project's top: those of
// the project, but none that has opted out. A command counts by what it names that is a file.
func (s *Store) filesOf(t correlation.Said) (project string, files []rank.Touch) {
	if t.Project == "" || t.Cwd == "" {
		return "", nil
	}
	top := memory.Top(t.Cwd)
	opted := map[string]bool{}
	for _, tool := range t.Tools {
		if tool.Status == "failed" {
			continue
		}
		kind, paths := kindOf(tool)
		for _, path := range paths {
			rel, full := fromTop(top, t.Cwd, path)
			if rel == "" || tool.Kind == "execute" && !isFile(full) {
				continue
			}
			dir := filepath.Dir(full)
			if _, known := opted[dir]; !known {
				opted[dir] = memory.Excluded(dir, s.opts.Exclude)
			}
			at := slices.IndexFunc(files, func(f rank.Touch) bool { return f.Path == rel })
			switch {
			case opted[dir]:
			case at >= 0:
				files[at].Kind = max(files[at].Kind, kind)
			case len(files) < maxFiles:
				files = append(files, rank.Touch{Path: rel, Kind: kind})
			}
		}
	}
	return memory.Project(t.Project), files
}

func kindOf(tool correlation.ToolCall) (rank.Kind, []string) {
	switch tool.Kind {
	case "edit", "delete", "move":
		return rank.Edited, tool.Locations
	case "read":
		return rank.Read, tool.Locations
	case "execute":
		words := strings.FieldsFunc(tool.Title, func(r rune) bool {
			return strings.ContainsRune(" \t\n'\"`;|&()<>=", r)
		})
		return rank.Named, append(slices.Clone(tool.Locations), words[:min(len(words), maxCommand)]...)
	}
	return rank.Named, tool.Locations
}

// fromTop returns a path from the top of the work tree that cwd is in, "" for one that lies outside, in .git, or has a
// secret in it.
func fromTop(top, cwd, path string) (rel, full string) {
	full = path
	if !filepath.IsAbs(full) {
		full = filepath.Join(cwd, path)
	}
	rel, err := filepath.Rel(top, full)
	if err == nil && !filepath.IsLocal(rel) { // top has no symbolic links
		var dir string
		if dir, err = filepath.EvalSymlinks(filepath.Dir(full)); err == nil {
			rel, err = filepath.Rel(top, filepath.Join(dir, filepath.Base(full)))
		}
	}
	rel = filepath.ToSlash(rel)
	if err != nil || rel == "." || !filepath.IsLocal(rel) || len(rel) > maxPath || strings.HasPrefix(rel, ".git/") ||
		privacy.Redact(rel) != rel {
		return "", ""
	}
	return rel, full
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// saveFiles makes the rows of a turn's files.
func (l learned) saveFiles(ctx context.Context, tx *sql.Tx) error {
	t := l.turn
	if _, err := tx.ExecContext(ctx, `DELETE FROM files WHERE turn = ?`, t.Turn); err != nil {
		return err
	}
	for _, f := range l.files {
		if _, err := tx.ExecContext(ctx, `INSERT INTO files (turn, session, project, path, kind, at)
			VALUES (?, ?, ?, ?, ?, ?)`, t.Turn, t.Session, l.project, f.Path, f.Kind, t.Started); err != nil {
			return err
		}
	}
	return nil
}

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
