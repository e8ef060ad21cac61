package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// A Process is one that runs in the sandbox.
type Process struct {
	ID, Parent int
	Command    string
}

func (p Process) String() string { return fmt.Sprintf("%d %s", p.ID, p.Command) }

// withVariable lists the processes that have a variable, NAME=VALUE, in their environment. It reads /proc, and finds
// nothing where there is none.
func withVariable(variable string) ([]Process, error) {
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	ours := []byte(variable)
	var found []Process
	for _, folder := range folders {
		env, err := os.ReadFile(filepath.Join(folder, "environ"))
		if err != nil || !hasVariable(env, ours) {
			continue // ended meanwhile, somebody else's, or not in the sandbox
		}
		command, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		id, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			return nil, err
		}
		parent, _ := StatusOf(id)
		found = append(found, Process{id, parent, spaced(command)})
	}
	return found, nil
}

// spaced is a command line as people read it.
func spaced(command []byte) string {
	return string(bytes.ReplaceAll(bytes.TrimRight(command, "\x00"), []byte{0}, []byte{' '}))
}

// StatusOf returns a process's parent and when it was started, which with its id names it for good; 0 and "" once it
// has ended.
func StatusOf(id int) (parent int, started string) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // from the third on, the state
	if err != nil || len(fields) < 20 {
		return 0, ""
	}
	parent, _ = strconv.Atoi(string(fields[1])) // the kernel wrote it
	return parent, string(fields[19])
}

func hasVariable(environ, variable []byte) bool {
	for one := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.Equal(one, variable) {
			return true
		}
	}
	return false
}

// looksSecret matches what our own programs make that opens something.
var looksSecret = regexp.MustCompile(`\b[A-Z2-7]{26}\b`)

// Exposed lists what opens something and stands among the arguments or in the environment of a process in the sandbox,
// or of one below it, which may have another environment: the keys, and what looks like one of ours.
func (s *Sandbox) Exposed(keys ...string) (found []string, err error) {
	marked, err := s.Processes()
	if err != nil {
		return nil, err
	}
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		id, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			return nil, err
		}
		if !below(id, marked) {
			continue
		}
		command, _ := os.ReadFile(filepath.Join(folder, "cmdline")) // it may have ended
		environment, _ := os.ReadFile(filepath.Join(folder, "environ"))
		for _, text := range [][]byte{command, environment} {
			for _, key := range append(slices.Clone(keys), string(looksSecret.Find(text))) {
				if key != "" && bytes.Contains(text, []byte(key)) {
					found = append(found, fmt.Sprintf("%s has %s", Process{ID: id, Command: spaced(command)}, key))
				}
			}
		}
	}
	return found, nil
}

// below reports whether a process is one of these or descends from one.
func below(id int, these []Process) bool {
	for ; id > 0; id, _ = StatusOf(id) {
		if slices.ContainsFunc(these, func(p Process) bool { return p.ID == id }) {
			return true
		}
	}
	return false
}
