package lineage

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// tick is the unit of times in /proc: USER_HZ is 100 on every architecture.
const tick = 10 * time.Millisecond

// Fields of /proc/PID/stat after the name (proc_pid_stat(5)).
const (
	fieldState   = 0
	fieldParent  = 1
	fieldGroup   = 2
	fieldUser    = 11 // CPU time, and the next one, in the system
	fieldStarted = 19
)

// stat returns the name of a process or thread, by its folder in /proc, and the fields after that.
func stat(folder string) (name string, fields []string, err error) {
	text, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return "", nil, err
	}
	// the name, in parentheses, may hold anything
	from, to := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	for _, field := range bytes.Fields(text[to+1:]) {
		fields = append(fields, string(field))
	}
	if from < 0 || to < from || len(fields) <= fieldStarted {
		return "", nil, errors.New("its stat cannot be read")
	}
	return string(text[from+1 : to]), fields, nil
}

// processes are the folders in /proc of all that can be seen; none where the system has no /proc.
func processes() []string {
	folders, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
	return folders
}

// CPU returns how much CPU time the processes of a group have used, and whether one of their threads is running,
// waiting for the CPU, or waiting for a disk. It is 0 and false where the system has no /proc.
func CPU(group int) (used time.Duration, running bool) {
	for _, folder := range processes() {
		_, fields, err := stat(folder)
		if err != nil || fields[fieldGroup] != strconv.Itoa(group) {
			continue
		}
		for _, ticks := range fields[fieldUser : fieldUser+2] {
			n, _ := strconv.Atoi(ticks) // the kernel wrote it
			used += time.Duration(n) * tick
		}
		threads, _ := filepath.Glob(filepath.Join(folder, "task", "*"))
		for _, thread := range threads {
			if _, fields, err := stat(thread); err == nil && (fields[fieldState] == "R" || fields[fieldState] == "D") {
				running = true
			}
		}
	}
	return used, running
}

// OpenFiles returns names by which the files that a process has open can be looked at; none where it has ended.
func OpenFiles(id int) []string {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", id))
	return names
}
