package memory

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"strings"
)

// ignoreMarker is the file by which a folder, with all below it, opts out of memory.
const ignoreMarker = ".signet-ignore"

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
	project := ""
	for dir := range ancestors(cwd) {
		temp := isTemp(dir)
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

// Repository returns where a project's repository is from, as its configuration names it: host and path, "" for none.
func Repository(project string) string {
	folder := filepath.Join(project, ".git")
	if link, err := os.ReadFile(folder); err == nil { // a submodule
		folder = strings.TrimSpace(strings.TrimPrefix(string(link), "gitdir: "))
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(project, folder)
		}
	}
	settings, err := os.ReadFile(filepath.Join(folder, "config"))
	if err != nil || project == "" {
		return ""
	}
	_, origin, _ := strings.Cut(string(settings), `[remote "origin"]`)
	origin, _, _ = strings.Cut(origin, "\n[")
	for line := range strings.Lines(origin) {
		if name, address, found := strings.Cut(line, "="); found && strings.TrimSpace(name) == "url" {
			return hostAndPath(strings.TrimSpace(address))
		}
	}
	return ""
}

// hostAndPath leaves out of an address who calls it, and how: git@host:a/b.git and https://token@host/a/b are host/a/b.
func hostAndPath(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		rest = address
	}
	host, path, found := strings.Cut(rest, "/")
	if !ok { // git@host:path
		if before, after, scp := strings.Cut(rest, ":"); scp && !strings.Contains(before, "/") {
			host, path, found = before, after, true
		}
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if !found || len(host) < 2 || host[0] == '.' || scheme == "file" { // a folder of this machine
		return ""
	}
	return host + "/" + strings.TrimSuffix(strings.Trim(path, "/"), ".git")
}

// Of reports whether what was said in a place, as far as that is known, is of a project: said there, below, or nowhere.
func Of(project, place string) bool {
	return project == "" || place == "" || place == project ||
		strings.HasPrefix(place, strings.TrimSuffix(project, "/")+"/")
}

// Excluded reports whether memory leaves cwd alone: a .signet-ignore file lies there or anywhere above, up to home,
// also outside of the repository that cwd is in; or one of the globs matches cwd or a folder above it. A glob that
// begins with "/" or "~" is of whole paths, any other of the last elements ("acme", "clients/*"); "**" stands for any
// number of folders.
func Excluded(cwd string, exclude []string) bool { return ExcludedBy(cwd, exclude) != "" }

// ExcludedBy returns the file or the glob for which memory leaves cwd alone, "" for none. A worktree has opted out with
// its repository.
func ExcludedBy(cwd string, exclude []string) string {
	dir, home := resolved(cwd), home()
	dirs := []string{dir}
	if main := Project(cwd); main != "" && main != Top(cwd) {
		dirs = append(dirs, main)
	}
	for _, start := range dirs {
		for d := range ancestors(start) {
			marker := filepath.Join(d, ignoreMarker)
			if _, err := os.Lstat(marker); err == nil {
				return marker
			}
			if d == home {
				break
			}
		}
	}
	for _, glob := range exclude {
		for _, dir := range append(dirs, filepath.Clean(cwd)) {
			if globMatches(dir, glob) {
				return glob
			}
		}
	}
	return ""
}

// globMatches reports whether glob, as Excluded has it, matches dir or a folder above it.
func globMatches(dir, glob string) bool {
	glob = filepath.ToSlash(strings.TrimSpace(glob))
	if glob == "" {
		return false
	}
	if rest, ok := strings.CutPrefix(glob, "~"); ok && (rest == "" || rest[0] == '/') {
		glob = filepath.ToSlash(home()) + rest
	} else if !filepath.IsAbs(glob) && glob[0] != '/' {
		glob = "**/" + glob
	}
	pattern := elements(glob)
	for d := range ancestors(dir) {
		if matches(pattern, elements(filepath.ToSlash(d))) {
			return true
		}
	}
	return false
}

// elements are the names that a path with slashes consists of.
func elements(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
}

// matches compares a path element by element. A broken pattern matches nothing.
func matches(pattern, name []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := 0; i <= len(name); i++ {
				if matches(pattern[1:], name[i:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], name[0]); !ok || err != nil {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0
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

func isTemp(dir string) bool {
	for _, temp := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		if dir == resolved(temp) {
			return true
		}
	}
	return false
}

func home() string {
	dir, err := Home()
	if err != nil {
		return ""
	}
	return resolved(dir)
}

// Home returns the user's home folder: that of the environment, else the one that the system's user database names.
// Some clients start agents without HOME (docs/facts/clients.md, "Clients").
func Home() (string, error) { return homeOf(os.UserHomeDir, user.Current) }

// HomeShort abbreviates the home folder in a path to ~.
func HomeShort(path string) string {
	home, err := Home()
	rest, below := strings.CutPrefix(path, home)
	if err != nil || home == "" || !below || rest != "" && rest[0] != filepath.Separator {
		return path
	}
	return "~" + rest
}

func homeOf(environment func() (string, error), database func() (*user.User, error)) (string, error) {
	dir, err := environment()
	if err == nil {
		return dir, nil
	}
	us, err := database()
	if err == nil && us.HomeDir == "" {
		err = errors.New("the system's user database names no home folder")
	}
	if err != nil {
		return "", fmt.Errorf("finding the home folder: %w", err)
	}
	return us.HomeDir, nil
}

// resolved follows symbolic links as far as the path exists.
func resolved(dir string) string {
	if p, err := filepath.EvalSymlinks(dir); err == nil {
		return filepath.Clean(p)
	}
	return filepath.Clean(dir)
}
