package worktree

import (
	"context"
	"slices"
)

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
