package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
)

// permissions checks that nobody else may read what is recorded.
func (e *examination) permissions() []Finding {
	const check = "permissions"
	if goruntime.GOOS == "windows" {
		return nil
	}
	dir := filepath.Join(e.c.SignetPath, "acp")
	var loose []string
	look := func(path string, mode fs.FileMode) {
		if mode.Perm()&0o077 != 0 && mode&fs.ModeSymlink == 0 {
			loose = append(loose, fmt.Sprintf("%s (%04o)", path, mode.Perm()))
		}
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			look(path, info.Mode())
		}
		if errors.Is(err, fs.ErrNotExist) { // gone since
			err = nil
		}
		return err
	})
	if filepath.Dir(e.c.DB) != dir {
		if info, err := os.Stat(e.c.DB); err == nil {
			look(e.c.DB, info.Mode())
		}
	}
	switch {
	case len(loose) > 0:
		more := ""
		if n := len(loose) - 3; n > 0 {
			loose, more = loose[:3], fmt.Sprintf(" and %d more", n)
		}
		return []Finding{{check, Problem, "others may read what was said: " + strings.Join(loose, ", ") + more,
			"chmod -R go= " + dir + " " + e.c.DB}}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return []Finding{{check, Problem, err.Error(), "make the folder this user's own"}}
	}
	return []Finding{{check, Fine, "nobody else may read " + dir, ""}}
}
