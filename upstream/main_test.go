//go:build unix

package upstream

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const (
	roleVar  = "UPSTREAM_TEST_ROLE"
	deadline = 30 * time.Second // for what must happen; never a measure
)

// The test binary is also every harness of these tests: started with a role in its environment it plays that.
func TestMain(m *testing.M) {
	if role, ok := roles[os.Getenv(roleVar)]; ok {
		os.Exit(role(os.Args[1:]))
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// as returns the options for a harness that plays a role.
func as(role string, args ...string) Options {
	return Options{
		Command: append([]string{self()}, args...),
		Env:     append(os.Environ(), roleVar+"="+role),
	}
}

func self() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

var poll sync.Once

// start starts a harness that is gone, with everything that we had for it, when the test ends.
func start(t *testing.T, o Options) *Process {
	t.Helper()
	poll.Do(func() { // the runtime opens what it waits for pipes with once, and keeps it
		if r, w, err := os.Pipe(); err == nil {
			r.Close()
			w.Close()
		}
	})
	before := descriptors()
	p, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Terminate(syscall.SIGKILL)
		p.Wait()
		if after := descriptors(); after != before {
			t.Errorf("%d descriptors are open, %d were", after, before)
		}
	})
	return p
}

// descriptors counts our open files, where the system tells.
func descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// ready waits for the harness to have said so: it has set up what its role needs.
func ready(t *testing.T, p *Process) {
	t.Helper()
	if line := readLine(t, p); line != "ready" {
		t.Fatalf("harness said %q", line)
	}
}

// readLine reads no further than the line.
func readLine(t *testing.T, p *Process) string {
	t.Helper()
	var line []byte
	for {
		var b [1]byte
		if _, err := io.ReadFull(p.Stdout, b[:]); err != nil {
			t.Fatalf("after %q: %v", line, err)
		}
		if b[0] == '\n' {
			return string(line)
		}
		line = append(line, b[0])
	}
}

// within fails the test when f does not return.
func within[T any](t *testing.T, what string, f func() T) T {
	t.Helper()
	result := make(chan T, 1)
	go func() { result <- f() }()
	select {
	case r := <-result:
		return r
	case <-time.After(deadline):
		t.Fatalf("%s: not within %v", what, deadline)
		panic("unreachable")
	}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, deadline)
		}
	}
}

// running reports whether a process is there and not a mere entry that waits to be reaped.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := bytes.Cut(stat, []byte(") "))
	return len(after) > 0 && after[0] != 'Z' && after[0] != 'X'
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// forever is select {} for a program without other goroutines.
func forever() int {
	for {
		time.Sleep(time.Hour)
	}
}

// roles are the harnesses. What a role returns is its exit code.
var roles = map[string]func(args []string) int{
	"echo": func([]string) int {
		_, err := io.Copy(os.Stdout, os.Stdin)
		return len(fmt.Sprint(err)) - len("<nil>")
	},
	"exit": func(args []string) int {
		code, _ := strconv.Atoi(args[0])
		return code
	},
	"signal itself": func(args []string) int {
		number, _ := strconv.Atoi(args[0])
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Signal(syscall.Signal(number))
		return forever()
	},
	// Reads nothing and goes on after the end of stdin, until a signal ends it.
	"deaf": func([]string) int {
		fmt.Println("ready")
		return forever()
	},
	// Leaves on the signal that it names.
	"polite": func([]string) int {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		fmt.Println("ready")
		fmt.Println(<-signals)
		return 7
	},
	"stubborn": func([]string) int {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		fmt.Println("ready")
		return forever()
	},
	// Has something to do after the end of stdin, and dies of TERM.
	"slow to leave": func([]string) int {
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
		time.Sleep(300 * time.Millisecond)
		fmt.Println("clean")
		return 0
	},
	// Leaves a child behind that holds its pipes, as the named role, and says its process id.
	"parent": func(args []string) int {
		child, err := spawnRole(args[0], len(args) > 1)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(child)
		fmt.Println("last words")
		return 5
	},
	// Stays, with a child that holds its pipes.
	"family": func(args []string) int {
		child, err := spawnRole(args[0], len(args) > 1)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(child)
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		return forever()
	},
	"silent": func([]string) int {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		return forever()
	},
	"flood": func([]string) int {
		for strconv.Itoa(os.Getppid()) == os.Getenv(parentVar) {
			time.Sleep(time.Millisecond) // what its parent says stands first
		}
		line := bytes.Repeat([]byte("x"), 4096)
		for {
			if _, err := os.Stdout.Write(line); err != nil {
				return 1
			}
		}
	},
	// Runs a shell that lists the descriptors it got.
	"descriptors": func([]string) int {
		return shell("for f in /proc/$$/fd/*; do echo ${f##*/} $(readlink $f); done")
	},
	"complain": func(args []string) int {
		n, _ := strconv.Atoi(args[0])
		for i := range n {
			fmt.Fprintln(os.Stderr, "complaint", i)
		}
		return 1
	},
	"environment": func(args []string) int {
		for _, entry := range os.Environ() {
			if strings.HasPrefix(entry, args[0]+"=") {
				fmt.Println(entry)
			}
		}
		return 0
	},
	// A proxy: starts what its arguments name, passes on its first line, and waits to be killed.
	"proxy": func(args []string) int {
		p, err := Start(as(args[0], args[1:]...))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		line, _ := bufio.NewReader(p.Stdout).ReadString('\n')
		fmt.Printf("%d %s", p.Pid(), line)
		return forever()
	},
	"terminal": func(args []string) int {
		o := as(args[0], args[1:]...)
		exit, err := OnTerminal(o)
		fmt.Println(exit, err)
		return 99
	},
}

// spawnRole starts a role on our own stdin, stdout and stderr, in our group or in a session of its own. parentVar tells
// a spawned role who its parent is.
const parentVar = "UPSTREAM_TEST_PARENT"

func spawnRole(role string, alone bool) (pid int, err error) {
	cmd := exec.Command(self())
	cmd.Env = append(os.Environ(), roleVar+"="+role, parentVar+"="+strconv.Itoa(os.Getpid()))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: alone}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	return cmd.Process.Pid, nil
}

func shell(script string) int {
	cmd := exec.Command("sh", "-c", script)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if cmd.Run() != nil {
		return 1
	}
	return 0
}
