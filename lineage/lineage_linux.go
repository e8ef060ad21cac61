package lineage

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// tick is the unit of times in /proc: USER_HZ is 100 on every architecture.
const tick = 10_000

// Fields of /proc/PID/stat after the name (proc_pid_stat(5)).
const (
	fieldState   = 0
	fieldParent  = 1
	fieldStarted = 19
)

// Look returns a process by its id.
func Look(id int) (Process, error) {
	folder := fmt.Sprintf("/proc/%d", id)
	stat, err := os.ReadFile(folder + "/stat")
	if err != nil {
		return Process{}, fmt.Errorf("looking at process %d: %w", id, err)
	}
	// the name, in parentheses, may hold anything
	from, to := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[to+1:])
	if from < 0 || to < from || len(fields) <= fieldStarted {
		return Process{}, fmt.Errorf("looking at process %d: its stat cannot be read", id)
	}
	p := Process{ID: id, Name: string(stat[from+1 : to]), Ended: string(fields[fieldState]) == "Z"}
	p.Parent, _ = strconv.Atoi(string(fields[fieldParent])) // the kernel writes numbers
	started, _ := strconv.ParseInt(string(fields[fieldStarted]), 10, 64)
	p.Started = Moment(started * tick)
	p.Program, _ = os.Readlink(folder + "/exe") // another user's cannot be read
	status, err := os.ReadFile(folder + "/status")
	p.Confined = err != nil || bytes.Contains(status, []byte("\nNoNewPrivs:\t1\n"))
	return p, nil
}

// Below returns the processes that descend from one.
func Below(id int) []Process {
	folders, _ := filepath.Glob("/proc/[0-9]*")
	children := map[int][]Process{}
	for _, folder := range folders {
		id, _ := strconv.Atoi(filepath.Base(folder))
		if p, err := Look(id); err == nil { // else it has just ended
			children[p.Parent] = append(children[p.Parent], p)
		}
	}
	all := children[id]
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i].ID]...)
	}
	return all
}

// Now is this moment.
func Now() Moment {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0
	}
	return Moment(now.Nano() / 1000)
}
