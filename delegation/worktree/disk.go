package worktree

import (
	"io/fs"
	"path/filepath"
)

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
