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

// Limits of the copy of a folder that is in no git repository. MostCopied is in bytes.
const (
	MostCopied = 200 << 20
	mostFiles  = 50_000
)

// A tooLarge error says that a folder is too large to be copied.
type tooLarge struct{ dir string }

func (e tooLarge) Error() string {
	return fmt.Sprintf("%s is in no git repository and larger than %d MB, so no copy of it is made: run git init "+
		"there, or delegate from the folder that matters", e.dir, MostCopied>>20)
}

// A folderCopy is the copy of a folder, with the digest of each file as it was copied, by its path.
type folderCopy struct {
	path   string
	before map[string][sha256.Size]byte
}

// copyFolder copies a folder. Symbolic links that lead out of it are left out.
func copyFolder(ctx context.Context, from, to string) (*folderCopy, error) {
	c := &folderCopy{path: to, before: map[string][sha256.Size]byte{}}
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

// copyLink copies a symbolic link, unless it leads out of the folder.
func copyLink(from, to, rel string) error {
	leads, err := os.Readlink(from)
	if err != nil || filepath.IsAbs(leads) || !filepath.IsLocal(filepath.Join(filepath.Dir(rel), leads)) {
		return err
	}
	return os.Symlink(leads, to)
}

// copyFile copies a file and gives its digest.
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

// changes gives the paths that differ from what was copied.
func (c *folderCopy) changes() ([]string, error) {
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
