package embedded

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/where"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A FileWork is a file of a project, with the sessions that touched it.
type FileWork struct {
	Path     string      `json:"path"` // from the project's top
	Sessions []FileVisit `json:"sessions"`
}

// A FileVisit is what one session did with a file.
type FileVisit struct {
	Session string    `json:"session,omitempty"` // the Signet key
	Did     string    `json:"did"`               // edited, read or named
	At      time.Time `json:"at"`                // the last time
	Words   string    `json:"words,omitempty"`   // what the user said there: of what was asked for, else first
}

const (
	visitsOfFile = 5   // sessions of a file that are shown, the newest
	maxSessionOf = 200 // bytes of their words
)

// Files returns the files of a project that earlier work on such things touched, best first; of a text that is the end
// of paths, those. Each has the sessions that touched it, newest first.
func (s *Store) Files(ctx context.Context, text, project string, limit int) ([]FileWork, error) {
	const doing = "searching files"
	if project = memory.Project(project); project == "" {
		return nil, nil
	}
	q, ranked, err := s.rank(ctx, search{text: text, project: project, most: defaultLimit})
	if err != nil {
		return nil, sqlite.While(doing, err)
	}
	paths, err := sqlite.Collect(ctx, s.db, sqlite.One[string], `SELECT path FROM files
		WHERE project = ?1 AND substr('/' || path, -length(?2)) = ?2 GROUP BY path ORDER BY max(turn) DESC`, project,
		"/"+filepath.ToSlash(strings.TrimSpace(text)))
	if err == nil && len(paths) == 0 {
		var files []where.File
		files, _, err = s.rankFiles(ctx, &q, ranked, project)
		for _, f := range files {
			paths = append(paths, f.Path)
		}
	}
	if err != nil {
		return nil, sqlite.While(doing, err)
	}
	var found []FileWork
	for _, path := range paths[:min(len(paths), limit)] {
		visits, err := s.visits(ctx, project, path, ranked)
		if err != nil {
			return nil, sqlite.While(doing, err)
		}
		found = append(found, FileWork{path, visits})
	}
	return found, nil
}

func (s *Store) visits(ctx context.Context, project, path string, ranked []*rank.Passage) ([]FileVisit, error) {
	var sessions []int64
	visits, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (v FileVisit, err error) {
		var session, at int64
		var kind where.Kind
		err = row.Scan(&session, &v.Session, &kind, &at)
		v.Did, v.At, sessions = kind.String(), sqlite.Unstamp(at).UTC(), append(sessions, session)
		return v, err
	}, `SELECT f.session,
		coalesce((SELECT key FROM turns_said s WHERE s.session = f.session ORDER BY id DESC LIMIT 1), ''),
		max(f.kind), max(f.at) FROM files f WHERE f.project = ? AND f.path = ? GROUP BY f.session
		ORDER BY max(f.turn) DESC LIMIT ?`,
		project, path, visitsOfFile)
	if err != nil {
		return nil, err
	}
	words, err := s.wordsOf(ctx, sessions, ranked)
	for i, session := range sessions {
		visits[i].Words = clip(strings.Join(strings.Fields(words[session]), " "), maxSessionOf)
	}
	return visits, err
}

// FilesIn returns the files that a session touched, edited ones first, each group in the order of the paths.
func (s *Store) FilesIn(ctx context.Context, session int64) ([]FileTouched, error) {
	files, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (f FileTouched, err error) {
		var kind where.Kind
		err = row.Scan(&f.Path, &kind)
		f.Did = kind.String()
		return f, err
	}, `SELECT path, max(kind) FROM files WHERE session = ? GROUP BY path ORDER BY max(kind) DESC, path`, session)
	return files, sqlite.While("reading a session's files", err)
}

// A FileTouched is a file of a session.
type FileTouched struct {
	Path string `json:"path"` // from the project's top
	Did  string `json:"did"`  // edited, read or named
}
