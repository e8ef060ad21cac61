package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// permissions checks that nobody else may read what is recorded.
func (e *examination) permissions() []finding {
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
		return problem("chmod -R go= "+dir+" "+e.c.DB, "others may read the conversations: %s%s",
			strings.Join(loose, ", "), more)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return problem("make the folder yours", "%v", err)
	}
	return fine("only you can read %s", dir)
}

// minSpace is what a session may need, in bytes: SQLite's log and some turns.
const minSpace = 1 << 20

// space checks that the folders of the database and of event files can be written, by writing a file.
func (e *examination) space() []finding {
	if e.c.DB == "" { // nobody has named a folder
		return nil
	}
	for _, dir := range []string{filepath.Dir(e.c.DB), e.c.LiveDir()} {
		f, err := os.CreateTemp(dir, ".doctor-*")
		if errors.Is(err, fs.ErrNotExist) {
			continue // made by the first session
		}
		if err == nil {
			_, err = f.Write(make([]byte, minSpace))
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
		if err != nil {
			return problem("free some space, or move the folder: SIGNET_PATH, --db",
				"%s cannot be written: %v", dir, err)
		}
	}
	return nil
}

// identity checks the person's identity files.
func (e *examination) identity() []finding {
	var there, untouched []string
	var bad []finding
	for _, name := range runtime.IdentityFiles {
		path := filepath.Join(e.c.SignetPath, name)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a regular file", path)
		}
		if err == nil {
			var text []byte
			text, err = os.ReadFile(path)
			if err == nil && len(text) > 0 && memory.WithoutComment(string(text)) == "" {
				untouched = append(untouched, name)
				continue
			}
		}
		if err != nil {
			bad = append(bad, problem("make it readable for your user, or remove it",
				"cannot be read: %v", err)...)
			continue
		}
		there = append(there, fmt.Sprintf("%s %d B", name, info.Size()))
	}
	if len(there) > 0 {
		return append(bad, fine("%s", strings.Join(there, ", "))...)
	}
	if len(untouched) > 0 {
		return append(bad, note("write who you are into "+filepath.Join(e.c.SignetPath, "USER.md")+
			", below the comment", "%s: only a comment so far", strings.Join(untouched, ", "))...)
	}
	if len(bad) == 0 {
		return note("signet-acp-proxy init makes templates; describe your agent in IDENTITY.md, yourself in USER.md",
			"no identity files in %s", e.c.SignetPath)
	}
	return bad
}
