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
		found = append(found, Process{id, parentOf(folder),
			string(bytes.ReplaceAll(bytes.TrimRight(command, "\x00"), []byte{0}, []byte{' '}))})
	}
	return found, nil
}

// parentOf reads the second field behind the command, which may hold anything, of a process's stat; 0 when it has
// ended meanwhile.
func parentOf(folder string) int {
	text, err := os.ReadFile(filepath.Join(folder, "stat"))
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if err != nil || len(fields) < 2 {
		return 0
	}
	id, _ := strconv.Atoi(string(fields[1])) // the kernel wrote it
	return id
}

func hasVariable(environ, variable []byte) bool {
	for one := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.Equal(one, variable) {
			return true
		}
	}
	return false
}
