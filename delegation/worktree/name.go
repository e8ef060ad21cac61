package worktree

import (
	"os"
	"path/filepath"
	"strings"
)

// NamesGit reports whether an element of a path is .git, or could be for a file system: in another case, with the
// characters that HFS+ ignores, with NTFS's short name, trailing dots, spaces or a stream.
func NamesGit(path string) bool {
	for _, element := range folded(path) {
		if element == ".git" || strings.HasPrefix(element, "git~") {
			return true
		}
	}
	return false
}

// folded returns the elements of a path as a file system may take them that folds case and drops characters.
func folded(path string) []string {
	elements := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	for i, element := range elements {
		element = strings.Map(func(r rune) rune {
			switch {
			case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
				return -1
			}
			return r
		}, element)
		element, _, _ = strings.Cut(element, ":")
		elements[i] = strings.ToLower(strings.TrimRight(element, " ."))
	}
	return elements
}

// Inside reports whether a path, with symbolic links followed as far as it exists, lies in the folder, and nothing on
// its way is named like .git.
func (f *Folder) Inside(path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.Cwd, path)
	}
	top, err := filepath.EvalSymlinks(f.Tree())
	if err != nil {
		return false
	}
	for _, p := range []string{filepath.Clean(path), Follow(path)} {
		if rel, err := filepath.Rel(top, p); err != nil || NamesGit(rel) {
			return false
		}
	}
	rel, err := filepath.Rel(top, Follow(path))
	return err == nil && filepath.IsLocal(rel)
}

// Follow returns a path with symbolic links followed as far as they lead, also where nothing stands at their end.
func Follow(path string) string {
	path = filepath.Clean(path)
	for range 40 { // links that lead to nothing, one to the other
		real, link := follow(path)
		if link == "" {
			return real
		}
		path = link
	}
	return path
}

// follow is Follow up to a symbolic link that leads to nothing; link is where that leads.
func follow(path string) (real, link string) {
	rest := ""
	for dir := path; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest), ""
		}
		if leads, err := os.Readlink(dir); err == nil {
			if !filepath.IsAbs(leads) {
				leads = filepath.Join(filepath.Dir(dir), leads)
			}
			return "", filepath.Join(leads, rest)
		}
		if filepath.Dir(dir) == dir {
			return path, ""
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}
