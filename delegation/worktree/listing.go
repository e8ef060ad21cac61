package worktree

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of a folder that is in no git repository. maxCopied is in bytes.
const (
	maxCopied = 200 << 20
	maxFiles  = 50_000
)

// A listing is what a folder has to hand on: names with slashes, from its top. Whatever is named like .git is left out.
type listing struct {
	tree         *tree
	files        []string // of repositories those that git does not ignore
	folders      []string // that are to be there even if they are empty
	repositories []repository
	bytes        int64 // of files outside of repositories

	excludes string // the file with what the user has git ignore everywhere
}

// folder lists a folder as a repository if it is the top of one, else all that it holds.
func (l *listing) folder(ctx context.Context, name string) error {
	l.folders = append(l.folders, name)
	dir := filepath.Join(l.tree.top, name)
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		if r, ok := repositoryOf(ctx, dir); ok && r.Top == dir {
			return l.repository(ctx, r, name)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := cmp.Or(ctx.Err(), l.add(ctx, path.Join(name, e.Name()))); err != nil {
			return err
		}
		if l.bytes > maxCopied || len(l.files) > maxFiles && len(l.repositories) == 0 {
			return TooLarge{l.tree.top}
		}
	}
	return nil
}

// add lists what stands at a name, if it is a file, a symbolic link or a folder.
func (l *listing) add(ctx context.Context, name string) error {
	info := l.tree.at(name)
	switch {
	case info == nil || NamesGit(name):
		return nil
	case info.IsDir():
		return l.folder(ctx, name)
	}
	if len(l.repositories) == 0 {
		l.bytes += info.Size()
	}
	l.files = append(l.files, name)
	return nil
}

// repository lists the files of a repository that git does not ignore, and the repositories in it.
func (l *listing) repository(ctx context.Context, r repository, name string) error {
	if l.excludes == "" {
		l.excludes = r.userSettings(ctx)["core.excludesfile"]
	}
	r.Path = name
	l.repositories = append(l.repositories, r)
	names, err := r.git().paths(ctx, "-c", "core.excludesFile="+l.excludes, "ls-files", "-z", "--cached", "--others",
		"--exclude-standard")
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, one := range slices.Compact(names) { // what is in conflict is listed several times
		info := l.tree.at(path.Join(name, strings.TrimSuffix(one, "/")))
		if info != nil && info.IsDir() { // a submodule, or a repository that git knows nothing of
			if _, err := os.Lstat(filepath.Join(r.Top, one, ".git")); err != nil {
				l.folders = append(l.folders, path.Join(name, one))
				continue
			}
		}
		if err := cmp.Or(ctx.Err(), l.add(ctx, path.Join(name, one))); err != nil {
			return err
		}
	}
	return nil
}

// ignored returns the files that git ignores and that match patterns, which are written as in .gitignore.
func (l *listing) ignored(ctx context.Context, patterns []string) ([]string, error) {
	if len(patterns) == 0 || len(l.repositories) == 0 || l.repositories[0].Path != "" {
		return nil, nil
	}
	args := []string{"ls-files", "-z", "--others", "--ignored"}
	for _, p := range patterns {
		args = append(args, "--exclude="+p)
	}
	names, err := l.repositories[0].git().paths(ctx, args...)
	return slices.DeleteFunc(names, func(name string) bool {
		info := l.tree.at(name)
		return info == nil || info.IsDir() || NamesGit(name)
	}), err
}

// A tree looks at names below a top without following symbolic links. It must not change meanwhile.
type tree struct {
	top     string
	folders map[string]bool // whether a name is a folder, and all above it are
}

func newTree(top string) *tree { return &tree{top, map[string]bool{".": true}} }

// at returns what stands at a name: a file, a symbolic link or a folder; nil for all else, and below a symbolic link.
func (t *tree) at(name string) fs.FileInfo {
	name = path.Clean(name)
	if !t.inFolder(path.Dir(name)) {
		return nil
	}
	info, err := os.Lstat(filepath.Join(t.top, name))
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() && info.Mode().Type() != fs.ModeSymlink {
		return nil
	}
	return info
}

func (t *tree) inFolder(name string) bool {
	is, known := t.folders[name]
	if !known {
		info, err := os.Lstat(filepath.Join(t.top, name))
		is = err == nil && info.IsDir() && t.inFolder(path.Dir(name))
		t.folders[name] = is
	}
	return is
}
