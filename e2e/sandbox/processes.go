package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
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
		found = append(found, Process{id, parent,
			string(bytes.ReplaceAll(bytes.TrimRight(command, "\x00"), []byte{0}, []byte{' '}))})
	}
	return found, nil
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
