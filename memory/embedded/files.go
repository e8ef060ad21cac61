package embedded

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
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
	Words   string    `json:"words,omitempty"`   // the user's: that were asked for, else before the last edit
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
	paths, err := sqlite.Collect(ctx, s.db, sqlite.One[string], `SELECT path FROM files
		WHERE project = ?1 AND substr('/' || path, -length(?2)) = ?2 GROUP BY path ORDER BY max(turn) DESC`, project,
		"/"+filepath.ToSlash(strings.TrimSpace(text)))
	if err != nil {
		return nil, sqlite.While(doing, err)
	}
	var ranked []*rank.Passage
	if len(paths) == 0 {
		var q rank.Query
		if q, ranked, err = s.rank(ctx, Query{Text: text, Project: project, Limit: defaultLimit}); err != nil {
			return nil, sqlite.While(doing, err)
		}
		files, _, err := s.rankFiles(ctx, &q, ranked, project)
		if err != nil {
			return nil, sqlite.While(doing, err)
		}
		for _, f := range files {
			paths = append(paths, f.Path)
		}
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
	turns := map[int64]int64{}
	visits, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (v FileVisit, err error) {
		var session, turn, at int64
		var kind rank.Kind
		err = row.Scan(&session, &v.Session, &kind, &at, &turn)
		v.Did, v.At, sessions = kind.String(), sqlite.Unstamp(at).UTC(), append(sessions, session)
		turns[session] = turn
		return v, err
	}, `SELECT f.session,
		coalesce((SELECT key FROM turns_said s WHERE s.session = f.session ORDER BY id DESC LIMIT 1), ''),
		max(f.kind), max(f.at), coalesce(max(f.turn) FILTER (WHERE f.kind = ?4), max(f.turn))
		FROM files f WHERE f.project = ?1 AND f.path = ?2 GROUP BY f.session ORDER BY max(f.turn) DESC LIMIT ?3`,
		project, path, visitsOfFile, rank.Edited)
	if err != nil {
		return nil, err
	}
	words, err := s.wordsOf(ctx, turns, ranked)
	for i, session := range sessions {
		visits[i].Words = clip(chars.OneLine(words[session]), maxSessionOf)
	}
	return visits, err
}

// FilesIn returns the files that sessions touched, edited ones first, each group in the order of the paths.
func (s *Store) FilesIn(ctx context.Context, sessions []int64) (map[int64][]FileTouched, error) {
	files := map[int64][]FileTouched{}
	err := sqlite.Each(ctx, s.db, func(row sqlite.Row) error {
		var session int64
		var f FileTouched
		var kind rank.Kind
		err := row.Scan(&session, &f.Path, &kind)
		f.Did = kind.String()
		files[session] = append(files[session], f)
		return err
	}, `SELECT session, path, max(kind) FROM files WHERE session IN (SELECT value FROM json_each(?))
		GROUP BY session, path ORDER BY session, max(kind) DESC, path`, sqlite.List(sessions))
	return files, sqlite.While("reading the files of sessions", err)
}

// EditedToo returns the newest other sessions that edited files which a session touched.
func (s *Store) EditedToo(ctx context.Context, session int64) ([]int64, error) {
	const most = 50
	sessions, err := sqlite.Collect(ctx, s.db, sqlite.One[int64], `SELECT session FROM files
		WHERE project = (SELECT project FROM files WHERE session = ?1 LIMIT 1)
			AND path IN (SELECT path FROM files WHERE session = ?1) AND session <> ?1 AND kind = ?2
		GROUP BY session ORDER BY max(turn) DESC LIMIT ?3`, session, rank.Edited, most)
	return sessions, sqlite.While("reading the files of sessions", err)
}

// A FileEdited is a file with the sessions that edited it.
type FileEdited struct {
	Project, Path string // from the project's top
	At            time.Time
	Sessions      []int64 // the newest first
}

// EditedLately returns the files of a project, or of all, that were edited last.
func (s *Store) EditedLately(ctx context.Context, project string, most int) ([]FileEdited, error) {
	files, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (f FileEdited, err error) {
		var at int64
		var sessions []byte
		if err := row.Scan(&f.Project, &f.Path, &at, &sessions); err != nil {
			return f, err
		}
		f.At = sqlite.Unstamp(at)
		return f, json.Unmarshal(sessions, &f.Sessions)
	}, `SELECT project, path, max(at), json_group_array(session) FROM (SELECT project, path, session, max(at) AS at,
			max(turn) AS turn FROM files WHERE kind = ?1 AND (?2 = '' OR project = ?2) GROUP BY project, path, session
			ORDER BY turn DESC)
		GROUP BY project, path ORDER BY max(turn) DESC LIMIT ?3`, rank.Edited, project, most)
	return files, sqlite.While("reading the files that were edited", err)
}

// A FileTouched is a file of a session.
type FileTouched struct {
	Path string `json:"path"` // from the project's top
	Did  string `json:"did"`  // edited, read or named
}

// Edited reports whether it was changed, made or removed.
func (f FileTouched) Edited() bool { return f.Did == rank.Edited.String() }
