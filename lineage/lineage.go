// Package lineage asks the system from which processes a process descends, and what they use: on Linux by /proc, on
// macOS by sysctl. Elsewhere every question is answered with ErrUnknown, or with nothing.
package lineage

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// A Process as the system describes it.
type Process struct {
	ID, Parent int
	Started    Moment
	Name       string // cut to 15 bytes or so
	Ended      bool   // only its parent has still to notice
	Program    string // its file; "" where the system does not tell
	Confined   bool   // it and all that it starts can gain no privileges (no_new_privs), as in any bounds of a user's
}

// A Moment is a time in microseconds, to be compared with others of the same system.
type Moment int64

// ErrUnknown says that the system does not tell.
var ErrUnknown = errors.New("this system does not tell which processes a process descends from")

// longest is how many ancestors a process has at most: more are a circle that was read while processes ended.
const longest = 256

// Of returns a process and its ancestors, the nearest first, as far as they can be seen. An ancestor that started after
// its descendant is another process, which got its id: that is an error.
func Of(id int) ([]Process, error) {
	var line []Process
	for len(line) < longest {
		p, err := Look(id)
		switch {
		case errors.Is(err, fs.ErrNotExist) && len(line) > 0: // it has just ended, or is hidden from us
			return line, nil
		case err != nil:
			return nil, err
		case len(line) > 0 && p.Started > line[len(line)-1].Started:
			return nil, fmt.Errorf("process %d ended while it was looked at", id)
		}
		line = append(line, p)
		if id = p.Parent; id <= 0 {
			break
		}
	}
	return line, nil
}

// RunsOf reports whether a process runs a program, by its file, or by the name of that.
func (p Process) RunsOf(program string) bool {
	own := strings.TrimSuffix(strings.TrimSuffix(p.Program, " (deleted)"), ".exe")
	name := filepath.Base(strings.TrimSuffix(program, ".exe"))
	if own == "" {
		return p.Name != "" && (p.Name == name || len(p.Name) >= shortened && strings.HasPrefix(name, p.Name))
	}
	return filepath.Base(own) == name
}

// shortened is from which length on a Name may be cut.
const shortened = 15
