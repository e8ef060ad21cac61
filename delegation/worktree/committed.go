package worktree

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const maxLooked = 40 // files that are looked at

// Committed returns those of some files, by their paths from a folder, that are as the last commit has them; nil where
// that cannot be said. No filter of the repository runs: contents are compared as they are.
func Committed(ctx context.Context, dir string, files []string) []string {
	files = slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		return !filepath.IsLocal(file) || strings.ContainsAny(file, "\n\x00")
	})
	files = files[:min(len(files), maxLooked)]
	if len(files) == 0 {
		return nil
	}
	var there, paths []string
	for _, file := range files {
		path := filepath.Join(dir, file)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			there, paths = append(there, file), append(paths, path)
		}
	}
	own := git{Tree: dir}
	out, err := own.found(ctx, strings.Join(paths, "\n"), "hash-object", "--no-filters", "--stdin-paths")
	now := map[string]string{}
	for i, id := range strings.Fields(out) {
		now[there[min(i, len(there)-1)]] = id
	}
	if err != nil || len(now) != len(there) {
		return nil
	}
	asked := append([]string{"--literal-pathspecs", "ls-tree", "-z", "HEAD", "--"}, files...)
	out, err = own.found(ctx, "", asked...)
	if err != nil {
		return nil
	}
	last := map[string]string{}
	for entry := range strings.SplitSeq(out, "\x00") {
		about, name, _ := strings.Cut(entry, "\t")
		if fields := strings.Fields(about); len(fields) == 3 {
			last[filepath.FromSlash(name)] = fields[2]
		}
	}
	return slices.DeleteFunc(files, func(file string) bool {
		file = filepath.FromSlash(file)
		return now[file] != last[file]
	})
}
