package doctor

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// timeouts say how long a harness may take to answer initialize. One that uses no CPU meanwhile hangs; one that is
// working, as all are on a busy machine, gets longer.
type timeouts struct {
	silent  time.Duration // for a harness that uses no CPU
	working time.Duration // for a harness that is still working
	quiet   time.Duration // how long without CPU use it takes to count as hanging
	look    time.Duration // how often its CPU use is checked
	slow    time.Duration // how long an answer takes that is reported as slow
}

var defaultTimeouts = timeouts{
	silent: 30 * time.Second, working: 3 * time.Minute, quiet: 5 * time.Second, look: time.Second,
	slow: 5 * time.Second,
}

// cachedTime is silent for npx and uvx, which search what they have downloaded before they start it.
const cachedTime = time.Minute

var (
	errHangs  = errors.New("it does not speak ACP, or hangs")
	errAtWork = errors.New("it is still at work")
)

// wait calls giveUp when the harness, by its process group, has used up its time. It ends with ctx.
func (p timeouts) wait(ctx context.Context, group int, giveUp func(error)) {
	tick := time.NewTicker(p.look)
	defer tick.Stop()
	begun := time.Now()
	worked, used := begun, time.Duration(0)
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now, running := cpuOf(group)
		// a waiting program may wake up now and then
		if running || now-used > p.look/20 {
			worked = time.Now()
		}
		used = now
		switch {
		case time.Since(begun) > p.working:
			giveUp(errAtWork)
			return
		case time.Since(begun) > p.silent && time.Since(worked) > p.quiet:
			giveUp(errHangs)
			return
		}
	}
}

// kernelTick is the unit of CPU times in /proc, on every Linux of today.
const kernelTick = 10 * time.Millisecond

// cpuOf returns how much CPU time the processes of a group have used, and whether one of their threads is running,
// waiting for the CPU, or waiting for a disk.
func cpuOf(group int) (used time.Duration, running bool) {
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

// statOf returns the fields after the name in the stat file of a process or thread, by its folder in /proc: its state,
// its parent, its group, and so on (proc_pid_stat(5)). None if it has ended, or the system has no /proc.
func statOf(folder string) [][]byte {
	stat, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return nil
	}
	return bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // the name, in parentheses, may hold anything
}
