package bounds

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Adopt makes what forks away from our descendants our own child, so that Deleted finds it.
func Adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// Deleted returns how many bytes lie in deleted files that our descendants have open: no folder lists these. It also
// reaps those in bounds that were adopted and have ended.
func Deleted() (all int64) {
	type file struct{ device, number uint64 }
	seen := map[file]bool{}
	for _, id := range descendants(os.Getpid()) {
		open, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", id)) // none where it has ended
		for _, name := range open {
			var found unix.Stat_t
			if unix.Stat(name, &found) != nil || found.Nlink > 0 || found.Mode&unix.S_IFMT != unix.S_IFREG {
				continue
			}
			if f := (file{uint64(found.Dev), found.Ino}); !seen[f] { //nolint:unconvert // not on every processor
				seen[f] = true
				all += found.Blocks * 512
			}
		}
	}
	return all
}

// descendants lists the processes that descend from one.
func descendants(of int) []int {
	folders, _ := filepath.Glob("/proc/[0-9]*")
	children := map[int][]int{}
	for _, folder := range folders {
		stat, err := os.ReadFile(filepath.Join(folder, "stat"))
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // the name before it may hold anything
		if err != nil || len(fields) < 2 {
			continue
		}
		id, _ := strconv.Atoi(filepath.Base(folder))
		parent, _ := strconv.Atoi(string(fields[1]))
		if parent == of && string(fields[0]) == "Z" && confined(folder) {
			_, _ = unix.Wait4(id, nil, unix.WNOHANG, nil) // what we start ourselves is in no bounds
			continue
		}
		children[parent] = append(children[parent], id)
	}
	all := children[of]
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// confined reports whether a process is in bounds.
func confined(folder string) bool {
	status, err := os.ReadFile(filepath.Join(folder, "status"))
	return err == nil && bytes.Contains(status, []byte("\nNoNewPrivs:\t1\n"))
}
