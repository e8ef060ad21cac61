package doctor

import (
	"path/filepath"
	"strconv"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
)

// kernelTick is the unit of CPU times in /proc, on every Linux of today.
const kernelTick = 10 * time.Millisecond

// cpuOf returns how much CPU time the processes of a group have used, and whether one of their threads is running,
// waiting for the CPU, or waiting for a disk.
func cpuOf(group int) (used time.Duration, running bool) {
	all, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
	for _, process := range all {
		fields := runtime.ProcessStat(process)
		if len(fields) < 13 || string(fields[2]) != strconv.Itoa(group) {
			continue
		}
		for _, ticks := range fields[11:13] {
			n, _ := strconv.Atoi(string(ticks)) // the kernel wrote it
			used += time.Duration(n) * kernelTick
		}
		threads, _ := filepath.Glob(filepath.Join(process, "task", "*"))
		for _, thread := range threads {
			if fields := runtime.ProcessStat(thread); len(fields) > 0 && (fields[0][0] == 'R' || fields[0][0] == 'D') {
				running = true
			}
		}
	}
	return used, running
}
