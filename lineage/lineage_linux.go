package lineage

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Look returns a process by its id.
func Look(id int) (Process, error) {
	folder := fmt.Sprintf("/proc/%d", id)
	name, fields, err := stat(folder)
	if err != nil {
		return Process{}, fmt.Errorf("looking at process %d: %w", id, err)
	}
	p := Process{ID: id, Name: name, Ended: fields[fieldState] == "Z"}
	p.Parent, _ = strconv.Atoi(fields[fieldParent]) // the kernel writes numbers
	started, _ := strconv.ParseInt(fields[fieldStarted], 10, 64)
	p.Started = Moment(started * tick.Microseconds())
	p.Program, _ = os.Readlink(folder + "/exe") // another user's cannot be read
	status, err := os.ReadFile(folder + "/status")
	p.Confined = err != nil || bytes.Contains(status, []byte("\nNoNewPrivs:\t1\n"))
	return p, nil
}

// Below returns the processes that descend from one.
func Below(id int) []Process {
	children := map[int][]Process{}
	for _, folder := range processes() {
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
