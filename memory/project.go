package memory

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Project returns the project of a working directory: its Top, or for a linked worktree that of the repository's main
// one, so that all worktrees of a repository are one project.
func Project(cwd string) string {
	top := Top(cwd)
	if top == "" {
		return ""
	}
	link, _ := os.ReadFile(filepath.Join(top, ".git")) // a file in a linked worktree, and in a submodule
	folder, isLink := strings.CutPrefix(strings.TrimSpace(string(link)), "gitdir: ")
	if isLink && !filepath.IsAbs(folder) {
		folder = filepath.Join(top, folder)
	}
	worktrees, git := filepath.Split(filepath.Dir(folder))
	common := filepath.Clean(worktrees)
	if isLink && git == "worktrees" && filepath.Base(common) == ".git" {
		if info, err := os.Stat(filepath.Dir(common)); err == nil && info.IsDir() {
			return resolved(filepath.Dir(common))
		}
	}
	return top
}

// Top returns the root of the git work tree that a working directory is in, with symbolic links resolved, or the
// directory itself where there is none. Home, "/" and what is in a temp folder without a repository have none. When
// somebody keeps their home in git, not everything below it is one project.
func Top(cwd string) string {
	cwd = resolved(cwd)
	temps := []string{resolved(os.TempDir()), resolved("/tmp"), resolved("/var/tmp")}
	project := ""
	for dir := range ancestors(cwd) {
		temp := slices.Contains(temps, dir)
		isShared := temp || filepath.Dir(dir) == dir || dir == home() // by unrelated things
		switch _, err := os.Lstat(filepath.Join(dir, ".git")); {
		case err == nil && !isShared:
			return dir
		case temp:
			return ""
		case dir == cwd && !isShared:
			project = dir
		}
	}
	return project
}

// Of reports whether what was said in a place, as far as that is known, is of a project: said there, below, or nowhere.
func Of(project, place string) bool {
	return project == "" || place == "" || place == project ||
		strings.HasPrefix(place, strings.TrimSuffix(project, "/")+"/")
}

// MaxPath is the longest path, in bytes, that any system we run on can open (Linux's PATH_MAX).
const MaxPath = 4096

// ancestors yields dir and the folders above it. It yields nothing for a relative path, which means another folder in
// another process, and for one that is longer than MaxPath: to look at each folder above it would take minutes.
func ancestors(dir string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if !filepath.IsAbs(dir) || len(dir) > MaxPath {
			return
		}
		for yield(dir) && filepath.Dir(dir) != dir {
			dir = filepath.Dir(dir)
		}
	}
}

// resolved follows symbolic links as far as the path exists.
func resolved(dir string) string {
	if p, err := filepath.EvalSymlinks(dir); err == nil {
		return filepath.Clean(p)
	}
	return filepath.Clean(dir)
}
