package doctor

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// kernelTick is what times in /proc count, on every Linux of today.
const kernelTick = 10 * time.Millisecond

// workOf says how much CPU time the processes of a group have used, and whether one of their threads uses the CPU now,
// waits for it, or for a disk.
func workOf(group int) (used time.Duration, running bool) {
	all, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
	for _, process := range all {
		fields := statOf(process)
		if len(fields) < 13 || string(fields[2]) != strconv.Itoa(group) {
			continue
		}
		for _, ticks := range fields[11:13] {
			n, _ := strconv.Atoi(string(ticks)) // the kernel wrote it
			used += time.Duration(n) * kernelTick
		}
		threads, _ := filepath.Glob(filepath.Join(process, "task", "*"))
		for _, thread := range threads {
			if fields := statOf(thread); len(fields) > 0 && (fields[0][0] == 'R' || fields[0][0] == 'D') {
				running = true
			}
		}
	}
	return used, running
}

// statOf gives the fields behind the name, which may hold anything, of a process or a thread: its state, its parent,
// its group, and so on. None where it has ended meanwhile.
func statOf(folder string) [][]byte {
	text, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return nil
	}
	return bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
}
