package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
)

// identity checks the person's identity files.
func (e *examination) identity() []Finding {
	const check = "identity"
	var there []string
	var bad []Finding
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
			var f *os.File
			if f, err = os.Open(path); err == nil {
				_, err = f.Read(make([]byte, 1))
				if err = errors.Join(err, f.Close()); info.Size() == 0 {
					err = nil
				}
			}
		}
		if err != nil {
			bad = append(bad, Finding{check, Problem, "cannot be read: " + err.Error(),
				"give this user a file that it may read, or remove it"})
			continue
		}
		there = append(there, fmt.Sprintf("%s %d B", name, info.Size()))
	}
	if len(there) > 0 {
		return append(bad, Finding{check, Fine, strings.Join(there, ", "), ""})
	}
	if len(bad) == 0 {
		bad = append(bad, Finding{check, Note, "no identity files in " + e.c.SignetPath,
			"signet-acp-proxy init makes templates; write into IDENTITY.md and USER.md who you are"})
	}
	return bad
}
