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
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/where"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

const (
	maxFiles   = 64  // of a turn that are kept
	maxPath    = 300 // bytes of a path from the project's top
	maxCommand = 40  // words of a command that are looked at
)

// touched are the files of a turn, by their paths from its project's top.
type touched struct {
	project string
	order   []string
	kinds   map[string]where.Kind
}

// filesOf returns the files that the tools of a turn were called with: those of the project, but none that has opted
// out. A command counts by what it names that is a file.
func (s *Store) filesOf(t correlation.Said) touched {
	f := touched{kinds: map[string]where.Kind{}}
	if t.Project == "" || t.Cwd == "" {
		return f
	}
	f.project = memory.Project(t.Project)
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
				opted[dir] = memory.OptedOut(dir, s.opts.Exclude)
			}
			if !opted[dir] {
				f.add(rel, kind)
			}
		}
	}
	return f
}

func kindOf(tool correlation.ToolCall) (where.Kind, []string) {
	switch tool.Kind {
	case "edit", "delete", "move":
		return where.Edited, tool.Locations
	case "read":
		return where.Read, tool.Locations
	case "execute":
		words := strings.FieldsFunc(tool.Title, func(r rune) bool {
			return strings.ContainsRune(" \t\n'\"`;|&()<>=", r)
		})
		return where.Named, append(slices.Clone(tool.Locations), words[:min(len(words), maxCommand)]...)
	}
	return where.Named, tool.Locations
}

func (f touched) has(path string) bool {
	_, known := f.kinds[path]
	return known
}

func (f *touched) add(path string, kind where.Kind) {
	if have, known := f.kinds[path]; known {
		f.kinds[path] = max(have, kind)
	} else if len(f.order) < maxFiles {
		f.order, f.kinds[path] = append(f.order, path), kind
	}
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

// save makes the rows of a turn's files.
func (f touched) save(ctx context.Context, tx *sql.Tx, t correlation.Said) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM files WHERE turn = ?`, t.Turn); err != nil {
		return err
	}
	for _, path := range f.order {
		if _, err := tx.ExecContext(ctx, `INSERT INTO files (turn, session, project, path, kind, at)
			VALUES (?, ?, ?, ?, ?, ?)`, t.Turn, t.Session, f.project, path, f.kinds[path], t.Started); err != nil {
			return err
		}
	}
	return nil
}

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
