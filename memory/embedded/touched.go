package embedded

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/where"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
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
				opted[dir] = memory.Excluded(dir, s.opts.Exclude)
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
