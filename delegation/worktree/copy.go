package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// TooLarge is the error of Make where a folder is too large to be copied.
type TooLarge struct{ dir string }

func (e TooLarge) Error() string {
	return fmt.Sprintf("%s is in no git repository and larger than %d MB, so it is not copied: run git init "+
		"there, or delegate from a smaller folder", e.dir, maxCopied>>20)
}

// copyFiles copies files and symbolic links by their names below two folders. What is gone meanwhile is left out.
func copyFiles(ctx context.Context, from *tree, to string, names []string) error {
	made := map[string]bool{}
	for _, name := range names {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		target := filepath.Join(to, name)
		if dir := filepath.Dir(target); !made[dir] {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
			made[dir] = true
		}
		info := from.at(name)
		if info == nil {
			continue
		}
		err := copyFile(filepath.Join(from.top, name), target, info)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// copyFile copies a file or a symbolic link, with its time, so that what builds by time builds no more than it must.
func copyFile(from, to string, info fs.FileInfo) error {
	if info.Mode().Type() == fs.ModeSymlink {
		leads, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(leads, to)
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in) // by copy_file_range, which shares the blocks where the file system can
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// Used returns the bytes in the files below a folder, as far as it can be looked into.
func Used(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // what is gone meanwhile, or closed to us, does not count
		}
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
