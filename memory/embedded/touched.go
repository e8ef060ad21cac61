package embedded

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
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
