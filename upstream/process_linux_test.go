package upstream

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Whoever kills us -9 has killed the harness and what it started, whatever these think of the end of stdin and TERM.
func TestKilledProxyLeavesNoOrphan(t *testing.T) {
	for _, test := range []struct {
		name      string
		args      []string
		unguarded bool // the guard is gone: the kernel's signal alone, to the harness alone
	}{
		{"harness", []string{"stubborn"}, false},
		{"harness with a child", []string{"family", "silent"}, false},
		{"harness without a guard", []string{"stubborn"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, err := Start(as("proxy", test.args...))
			if err != nil {
				t.Fatal(err)
			}
			said := readLine(t, p)
			pids := strings.Fields(strings.TrimSuffix(said, " ready"))
			for _, pid := range pids {
				if !running(atoi(t, pid)) {
					t.Fatalf("%s does not run; proxy said %q", pid, said)
				}
			}
			guard := guardOf(t, atoi(t, pids[0]))
			if test.unguarded {
				if err := syscall.Kill(guard, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			} else {
				pids = append(pids, fmt.Sprint(guard))
			}
			if err := syscall.Kill(p.Pid(), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if exit := within(t, "Wait", p.Wait); exit.Signal != syscall.SIGKILL {
				t.Error(exit)
			}
			for _, pid := range pids {
				eventually(t, "end of "+pid, func() bool { return !running(atoi(t, pid)) })
			}
		})
	}
}

// guardOf waits for the shell in a harness's group.
func guardOf(t *testing.T, group int) (guard int) {
	t.Helper()
	eventually(t, "a guard", func() bool {
		stats, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, path := range stats {
			stat, _ := os.ReadFile(path)
			pid, rest, _ := strings.Cut(string(stat), " (sh) ")
			if fields := strings.Fields(rest); len(fields) > 2 && fields[2] == fmt.Sprint(group) {
				guard = atoi(t, pid)
				return true
			}
		}
		return false
	})
	return guard
}

// Grandchildren hold none of our pipes but their own stdin, stdout and stderr: a held one never sees its end.
func TestDescriptorsOfGrandchildren(t *testing.T) {
	foreign := pipes(t)
	other, err := Start(as("echo")) // its pipes are open while the second harness starts
	if err != nil {
		t.Fatal(err)
	}
	defer other.Wait()
	defer other.Hangup()
	p, err := Start(as("descriptors"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Wait()
	ours := pipes(t)
	all, err := io.ReadAll(p.Stdout)
	if err != nil || !strings.Contains(string(all), "0 pipe:") {
		t.Fatalf("%q, %v", all, err)
	}
	for line := range strings.Lines(string(all)) {
		fd, target, _ := strings.Cut(strings.TrimSpace(line), " ")
		if len(fd) == 1 && fd < "3" {
			continue
		}
		if ours[target] && !foreign[target] {
			t.Errorf("descriptor %s is %s, one of ours", fd, target)
		}
	}
}

// pipes returns the pipes that we have open.
func pipes(t *testing.T) map[string]bool {
	t.Helper()
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	open := make(map[string]bool)
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, "pipe:") {
			open[target] = true
		}
	}
	return open
}

func TestOwnGroup(t *testing.T) {
	p := start(t, as("deaf"))
	ready(t, p)
	if group, err := syscall.Getpgid(p.Pid()); group != p.Pid() || err != nil || group == syscall.Getpgrp() {
		t.Errorf("group %d, process %d, %v", group, p.Pid(), err)
	}
}

// Pipes hold a whole large prompt, so that writing one needs no turn of the harness.
func TestWidePipes(t *testing.T) {
	p := start(t, as("deaf"))
	ready(t, p)
	if size, err := unix.FcntlInt(uintptr(p.stdin.fd), unix.F_GETPIPE_SZ, 0); size < pipeSize {
		t.Skipf("the system allows %d bytes, %v", size, err)
	}
	n := within(t, "Write", func() int { n, _ := p.Stdin.Write(make([]byte, pipeSize)); return n })
	if n != pipeSize {
		t.Error(n)
	}
}

func TestWiden(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	Widen(w)
	size, err := unix.FcntlInt(w.Fd(), unix.F_GETPIPE_SZ, 0)
	if err != nil || size != pipeSize {
		t.Skipf("the system allows %d bytes, %v", size, err)
	}
	if n := within(t, "Write", func() int { n, _ := w.Write(make([]byte, pipeSize)); return n }); n != pipeSize {
		t.Error(n)
	}
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	Widen(file)
}

// However the guard's and the harness's ends are ordered, no process of ours is left.
func TestNoChildLeft(t *testing.T) {
	for range 20 {
		p, err := Start(as("exit", "0"))
		if err != nil {
			t.Fatal(err)
		}
		p.Wait()
	}
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, task := range tasks {
		if children, err := os.ReadFile(task); err == nil && len(children) > 0 {
			t.Errorf("children left: %s", children)
		}
	}
}
