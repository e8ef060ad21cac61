package memory

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ignoreMarker is the file by which a folder, with all below it, opts out of memory.
const ignoreMarker = ".signet-ignore"

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
