package view

import (
	"path/filepath"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// harnessName gives the title of a harness, its name where it is not known.
func harnessName(name string) string {
	if p, known := upstream.ByAgent(name); known {
		return p.Title
	}
	return name
}

// A home is the path of the home folder; "" where there is none.
type home string

// short abbreviates the home folder in a path to ~.
func (h home) short(path string) string {
	rest, below := strings.CutPrefix(path, string(h))
	if below && h != "" && (rest == "" || rest[0] == filepath.Separator) {
		return "~" + rest
	}
	return path
}

// project is what the page calls a project.
func (h home) project(path string) string {
	if path == "" {
		return "no project"
	}
	return h.short(path)
}
