package worktree

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MostCopied is how many bytes of a folder outside of git are copied, and mostFiles how many files.
const (
	MostCopied = 200 << 20
	mostFiles  = 50_000
)

// A tooLarge folder is not copied.
type tooLarge struct{ dir string }

func (e tooLarge) Error() string {
	return fmt.Sprintf("%s is in no git repository and larger than %d MB, so no copy of it is made: run git init "+
		"there, or delegate from the folder that matters", e.dir, MostCopied>>20)
}

// A copied folder knows what it was.
type copied struct {
	path   string
	before map[string][sha256.Size]byte
}

// copyFolder copies a folder that no repository has. Links that lead out of it are left out.
func copyFolder(ctx context.Context, from, to string) (*copied, error) {
	c := &copied{path: to, before: map[string][sha256.Size]byte{}}
	bytes := int64(0)
	err := filepath.WalkDir(from, func(name string, e fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return cmp.Or(err, ctx.Err())
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case e.IsDir():
			return os.MkdirAll(target, 0o700)
		case e.Type() == fs.ModeSymlink:
			return copyLink(name, target, rel)
		case !e.Type().IsRegular():
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if bytes += info.Size(); bytes > MostCopied || len(c.before) >= mostFiles {
			return tooLarge{from}
		}
		c.before[rel], err = copyFile(name, target, info.Mode().Perm())
		return err
	})
	return c, err
}

func copyLink(from, to, rel string) error {
	leads, err := os.Readlink(from)
	if err != nil || filepath.IsAbs(leads) || !filepath.IsLocal(filepath.Join(filepath.Dir(rel), leads)) {
		return err
	}
	return os.Symlink(leads, to)
}

func copyFile(from, to string, mode fs.FileMode) (sum [sha256.Size]byte, err error) {
	in, err := os.Open(from)
	if err != nil {
		return sum, err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode|0o600)
	if err != nil {
		return sum, err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, h), io.LimitReader(in, MostCopied))
	copy(sum[:], h.Sum(nil))
	return sum, cmp.Or(err, out.Close())
}

// result gives the paths that differ from what was copied.
func (c *copied) result() ([]string, error) {
	var paths []string
	seen := map[string]bool{}
	err := filepath.WalkDir(c.path, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(c.path, name)
		if err != nil {
			return err
		}
		seen[rel] = true
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		h := sha256.New()
		if _, err := io.Copy(h, f); err != nil {
			return err
		}
		if was, there := c.before[rel]; !there || !slices.Equal(was[:], h.Sum(nil)) {
			paths = append(paths, filepath.ToSlash(rel))
		}
		return nil
	})
	for rel := range c.before {
		if !seen[rel] {
			paths = append(paths, filepath.ToSlash(rel))
		}
	}
	slices.SortFunc(paths, strings.Compare)
	return paths, err
}
