package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/sandbox"
)

// A usage is what a process has used and holds, as /proc tells; zero where there is none.
type usage struct {
	cpu                     time.Duration // of all its threads so far
	peak, resident, private int64         // bytes; private is memory that no other process can share: no file's pages
}

func usageOf(pid int) usage {
	var u usage
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) // the pattern is well formed
	for _, name := range threads {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // ended meanwhile
		}
		ran, _, _ := strings.Cut(string(text), " ")
		if ns, err := strconv.ParseInt(ran, 10, 64); err == nil {
			u.cpu += time.Duration(ns)
		}
	}
	status := fields(fmt.Sprintf("/proc/%d/status", pid))
	u.peak, u.resident = status["VmHWM"], status["VmRSS"]
	u.private = fields(fmt.Sprintf("/proc/%d/smaps_rollup", pid))["Anonymous"]
	return u
}

// fields reads the sizes of a file with lines such as "VmRSS:  12 kB", in bytes.
func fields(name string) map[string]int64 {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	sizes := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		field, rest, _ := strings.Cut(line, ":")
		words := strings.Fields(rest)
		if len(words) != 2 || words[1] != "kB" {
			continue
		}
		if kib, err := strconv.ParseInt(words[0], 10, 64); err == nil {
			sizes[field] = kib << 10
		}
	}
	return sizes
}

// spent is what a command took. What it holds and writes is looked at every few milliseconds.
type spent struct {
	cpu, wall     time.Duration
	peak, written int64 // bytes
}

// run runs a command in a sandbox to its end.
func run(ctx context.Context, box *sandbox.Sandbox, command ...string) (s spent, err error) {
	began := time.Now()
	cmd := box.Command(ctx, nil, command...)
	if err := cmd.Start(); err != nil {
		return s, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			s.wall, s.cpu = time.Since(began), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
			if err != nil {
				err = fmt.Errorf("%s: %w", strings.Join(command, " "), err)
			}
			return s, err
		case <-time.After(5 * time.Millisecond):
			s.peak = max(s.peak, fields(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))["VmHWM"])
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", cmd.Process.Pid))
			if _, n, found := strings.Cut(string(text), "\nwrite_bytes: "); found {
				n, _, _ = strings.Cut(n, "\n")
				wrote, _ := strconv.ParseInt(n, 10, 64)
				s.written = max(s.written, wrote)
			}
		}
	}
}
