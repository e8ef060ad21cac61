package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

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
			if text, err = os.ReadFile(path); err == nil && memory.OnlyComment(string(text)) {
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
			", below the comment", "%s: nothing but a comment yet", strings.Join(untouched, ", "))...)
	}
	if len(bad) == 0 {
		return note("signet-acp-proxy init makes templates; write into IDENTITY.md and USER.md who you are",
			"no identity files in %s", e.c.SignetPath)
	}
	return bad
}
