//go:build unix

package upstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestExit(t *testing.T) {
	for _, test := range []struct {
		role, arg string
		want      Exit
		status    int
		text      string
	}{
		{"exit", "0", Exit{}, 0, "exit status 0"},
		{"exit", "3", Exit{Code: 3}, 3, "exit status 3"},
		{"signal itself", "15", Exit{Signal: syscall.SIGTERM}, 143, "signal 15 (terminated)"},
		{"signal itself", "9", Exit{Signal: syscall.SIGKILL}, 137, "signal 9 (killed)"},
	} {
		t.Run(test.text, func(t *testing.T) {
			p := start(t, as(test.role, test.arg))
			got := within(t, "Wait", p.Wait)
			if got != test.want || got.Status() != test.status || got.String() != test.text {
				t.Errorf("got %v, status %d", got, got.Status())
			}
			select {
			case <-p.exited:
			default:
				t.Error("Wait returned before it had exited")
			}
			if again := p.Wait(); again != got {
				t.Errorf("a second Wait gave %v", again)
			}
		})
	}
}

func TestEcho(t *testing.T) {
	p := start(t, as("echo"))
	if _, err := p.Stdin.Write([]byte("hello\n")); err != nil {
		t.Fatal(err)
	}
	if got := readLine(t, p); got != "hello" {
		t.Errorf("got %q", got)
	}
	p.Hangup()
	p.Hangup()
	if rest, err := io.ReadAll(p.Stdout); len(rest) != 0 || err != nil {
		t.Errorf("then %q, %v", rest, err)
	}
	if exit := within(t, "Wait", p.Wait); exit != (Exit{}) {
		t.Error(exit)
	}
	if _, err := p.Stdin.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("write after the end: %v", err)
	}
	if _, err := p.Stdout.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("read after the end: %v", err)
	}
}

// Writes larger than every pipe, both ways at once, in pieces of all sizes.
func TestBigWrites(t *testing.T) {
	p := start(t, as("echo"))
	random := rand.NewChaCha8([32]byte{1})
	sent := make([]byte, 24<<20)
	_, _ = random.Read(sent)
	var wrote error
	var writer sync.WaitGroup
	writer.Go(func() {
		defer p.Hangup()
		for rest := sent; len(rest) > 0 && wrote == nil; {
			n := min(len(rest), 1+int(random.Uint64()%(5<<20)))
			_, wrote = p.Stdin.Write(rest[:n])
			rest = rest[n:]
		}
	})
	got, err := io.ReadAll(p.Stdout)
	writer.Wait()
	if err != nil || wrote != nil || !bytes.Equal(got, sent) {
		t.Errorf("sent %d bytes (%v), got %d (%v)", len(sent), wrote, len(got), err)
	}
	if exit := within(t, "Wait", p.Wait); exit != (Exit{}) {
		t.Error(exit)
	}
}

func TestEnding(t *testing.T) {
	const never = time.Hour
	for _, test := range []struct {
		name, role       string
		grace, killAfter time.Duration
		minGrace         time.Duration
		end              func(*Process)
		says             string
		want             Exit
	}{
		{name: "leaves at the end of stdin", role: "slow to leave", grace: never, killAfter: never,
			end: (*Process).Hangup, says: "clean"},
		{name: "TERM after the grace", role: "polite", grace: 1, killAfter: never,
			end: (*Process).Hangup, says: "terminated", want: Exit{Code: 7}},
		{name: "deaf to the end of stdin", role: "deaf", grace: 1, killAfter: never,
			end: (*Process).Hangup, want: Exit{Signal: syscall.SIGTERM}},
		{name: "ignores TERM", role: "stubborn", grace: 1, killAfter: 1,
			end: (*Process).Hangup, want: Exit{Signal: syscall.SIGKILL}},
		{name: "told", role: "polite", grace: never, killAfter: never,
			end: terminate(syscall.SIGHUP), says: "hangup", want: Exit{Code: 7}},
		{name: "told, and ignores it", role: "stubborn", grace: never, killAfter: 1,
			end: terminate(syscall.SIGTERM), want: Exit{Signal: syscall.SIGKILL}},
		{name: "told after a hangup", role: "polite", grace: never, killAfter: never,
			end: func(p *Process) { p.Hangup(); p.Terminate(syscall.SIGINT) }, says: "interrupt", want: Exit{Code: 7}},
		{name: "told twice", role: "stubborn", grace: never, killAfter: never,
			end:  func(p *Process) { p.Terminate(syscall.SIGTERM); p.Terminate(syscall.SIGKILL) },
			want: Exit{Signal: syscall.SIGKILL}},
		{name: "told, with a least grace", role: "slow to leave", minGrace: never, killAfter: never,
			end: terminate(syscall.SIGTERM), says: "clean"},
		{name: "KILL in spite of the least grace", role: "deaf", minGrace: never, killAfter: 1,
			end: terminate(syscall.SIGTERM), want: Exit{Signal: syscall.SIGKILL}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := as(test.role)
			o.Grace, o.MinGrace, o.KillAfter = test.grace, test.minGrace, test.killAfter
			p, err := Start(o)
			if err != nil {
				t.Fatal(err)
			}
			ready(t, p)
			test.end(p)
			says, err := io.ReadAll(p.Stdout)
			if strings.TrimSpace(string(says)) != test.says || err != nil {
				t.Errorf("said %q, %v", says, err)
			}
			if exit := within(t, "Wait", p.Wait); exit != test.want {
				t.Errorf("got %v, want %v", exit, test.want)
			}
			p.Terminate(syscall.SIGTERM) // nobody is there any more
		})
	}
}

// A harness that would also leave at the end of its stdin ends by the signal that it is told to end by, each time.
func TestToldBeforeTheEndOfStdin(t *testing.T) {
	for range 30 {
		p := start(t, as("echo"))
		if _, err := p.Stdin.Write([]byte("hello\n")); err != nil {
			t.Fatal(err)
		}
		readLine(t, p)
		p.Terminate(syscall.SIGTERM)
		if exit := within(t, "Wait", p.Wait); exit != (Exit{Signal: syscall.SIGTERM}) {
			t.Fatalf("got %v", exit)
		}
	}
}

func terminate(sig os.Signal) func(*Process) {
	return func(p *Process) { p.Terminate(sig) }
}

// Stdin can be closed while a write waits for a harness that does not read.
func TestHangupInAWrite(t *testing.T) {
	p := start(t, as("deaf"))
	ready(t, p)
	wrote := make(chan error, 1)
	go func() {
		_, err := p.Stdin.Write(make([]byte, 8<<20))
		wrote <- err
	}()
	p.Terminate(syscall.SIGTERM)
	err := within(t, "Write", func() error { return <-wrote })
	if !errors.Is(err, os.ErrClosed) && !errors.Is(err, syscall.EPIPE) {
		t.Error(err)
	}
}

func TestWriteToTheDead(t *testing.T) {
	p := start(t, as("exit", "0"))
	<-p.exited
	eventually(t, "an error", func() bool { _, err := p.Stdin.Write([]byte("x")); return err != nil })
}

// What the harness leaves behind holds its pipes: in its group it is killed, elsewhere it is given up.
func TestGrandchildHoldsThePipes(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		kept bool // the grandchild may live
	}{
		{"in the group", []string{"silent"}, false},
		{"in a session of its own", []string{"silent", "alone"}, true},
		{"and writes without end", []string{"flood", "alone"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := as("parent", test.args...)
			o.Stderr = io.Discard
			o.linger = 100 * time.Millisecond
			p, err := Start(o)
			if err != nil {
				t.Fatal(err)
			}
			grandchild := atoi(t, readLine(t, p))
			defer func() { _ = syscall.Kill(grandchild, syscall.SIGKILL) }()
			heard := false
			buf := make([]byte, 64<<10)
			for err == nil {
				var n int
				n, err = p.Stdout.Read(buf)
				heard = heard || bytes.Contains(buf[:n], []byte("last words\n"))
			}
			if !heard || err != io.EOF {
				t.Errorf("heard the last words: %t; %v", heard, err)
			}
			if exit := within(t, "Wait", p.Wait); exit != (Exit{Code: 5}) {
				t.Error(exit)
			}
			if !test.kept {
				eventually(t, "end of the grandchild", func() bool { return !running(grandchild) })
			}
		})
	}
}

// Told to end, we do not wait for what the harness left behind.
func TestToldWhileTheGrandchildHoldsThePipes(t *testing.T) {
	for _, order := range []string{"before", "after"} {
		o := as("parent", "silent")
		o.linger = time.Hour
		o.KillAfter = 1
		p := start(t, o)
		readLine(t, p) // the grandchild runs
		if order == "after" {
			<-p.exited
		}
		p.Terminate(syscall.SIGWINCH) // harmless
		within(t, "Wait", func() Exit { _, _ = io.Copy(io.Discard, p.Stdout); return p.Wait() })
	}
}

// Nobody reads: Wait gives up what the harness says, and does not wait for the linger.
func TestWaitWithoutReading(t *testing.T) {
	p := start(t, as("flood"))
	var b [1]byte
	if _, err := p.Stdout.Read(b[:]); err != nil {
		t.Fatal(err)
	}
	p.Terminate(syscall.SIGTERM)
	if exit := within(t, "Wait", p.Wait); exit.Signal != syscall.SIGTERM {
		t.Error(exit)
	}
}

func TestStdoutClosedEarly(t *testing.T) {
	p := start(t, as("flood"))
	if err := p.Stdout.Close(); err != nil {
		t.Fatal(err)
	}
	if exit := within(t, "Wait", p.Wait); exit == (Exit{}) {
		t.Error("the harness could go on writing")
	}
}

// All that the harness wrote before its end is read, however late.
func TestOutputAfterTheEnd(t *testing.T) {
	p := start(t, Options{Command: []string{"sh", "-c", "head -c 60000 /dev/zero; exit 4"}})
	<-p.exited
	if all, err := io.ReadAll(p.Stdout); len(all) != 60000 || err != nil {
		t.Errorf("%d bytes, %v", len(all), err)
	}
	if exit := within(t, "Wait", p.Wait); exit.Code != 4 {
		t.Error(exit)
	}
}

// And what something that it has left behind in its group still writes.
func TestOutputOfOthers(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, Options{Command: []string{"sh", "-c", "(read l <" + gate + "; echo late) & exit 4"}, linger: time.Hour})
	<-p.exited
	open, err := os.OpenFile(gate, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if _, err := open.WriteString("go on\n"); err != nil {
		t.Fatal(err)
	}
	if all, err := io.ReadAll(p.Stdout); string(all) != "late\n" || err != nil {
		t.Errorf("%q, %v", all, err)
	}
}

func TestLastStderr(t *testing.T) {
	o := as("complain", "5000")
	var all lockedBuffer
	o.Stderr = &all
	p := start(t, o)
	if exit := within(t, "Wait", p.Wait); exit.Code != 1 {
		t.Error(exit)
	}
	var want []string
	for i := 5000 - tailLines; i < 5000; i++ {
		want = append(want, fmt.Sprint("complaint ", i))
	}
	if got := p.LastStderr(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if n := strings.Count(all.String(), "\n"); n != 5000 {
		t.Errorf("%d lines were copied", n)
	}
}

// A harness must not wait for a stderr that nobody takes.
func TestStderrThatFails(t *testing.T) {
	o := as("complain", "50000")
	o.Stderr = failing{}
	p := start(t, o)
	within(t, "Wait", p.Wait)
	if got := p.LastStderr(); len(got) != tailLines || got[tailLines-1] != "complaint 49999" {
		t.Errorf("got %q", got)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("nobody is there") }

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Of two entries with one name the last counts, whatever a program would take.
func TestEnvironment(t *testing.T) {
	o := as("environment", "TWICE")
	o.Env = append(o.Env, "TWICE=first", "ONCE=1", "TWICE=second")
	p := start(t, o)
	if all, err := io.ReadAll(p.Stdout); string(all) != "TWICE=second\n" || err != nil {
		t.Errorf("%q, %v", all, err)
	}
	if kept := environment([]string{"A=1", "B=", "A=2", "odd"}); !slices.Equal(kept, []string{"B=", "A=2", "odd"}) {
		t.Errorf("%q are left", kept)
	}
}

func TestScriptWithoutInterpreter(t *testing.T) {
	path := t.TempDir() + "/agent"
	if err := os.WriteFile(path, []byte("echo $0 $1 $2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := start(t, Options{Command: []string{path, "a b", "c"}})
	if all, err := io.ReadAll(p.Stdout); string(all) != path+" a b c\n" || err != nil {
		t.Errorf("%q, %v", all, err)
	}
}

func TestNotStarted(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := dir + "/" + name
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("PATH", dir+":.")
	t.Chdir(t.TempDir())
	if err := os.WriteFile("here", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		command []string
		says    string
	}{
		{"nothing", nil, "--agent"},
		{"empty", []string{""}, "--agent"},
		{"unknown", []string{"no-such-agent", "--acp"}, "no-such-agent not found: install it"},
		{"claude", []string{"npx", "-y", "@agentclientprotocol/claude-agent-acp@latest"}, "npx not found: install Node.js"},
		{"gemini", []string{"gemini", "--acp"}, "npm install -g @google/gemini-cli"},
		{"not executable", []string{write("plain", "x", 0o644)}, "chmod +x"},
		{"a folder", []string{dir}, "not found"},
		{"in the current folder", []string{"here"}, "write ./here"},
		{"interpreter missing", []string{write("script", "#!/no/such/interpreter\n", 0o755)}, "interpreter"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := descriptors()
			_, err := Start(Options{Command: test.command})
			if !errors.Is(err, ErrNotStarted) || !strings.Contains(fmt.Sprint(err), test.says) ||
				strings.Contains(fmt.Sprint(err), "\n") {
				t.Errorf("got %v", err)
			}
			if _, err := OnTerminal(Options{Command: test.command}); !errors.Is(err, ErrNotStarted) {
				t.Errorf("on a terminal: %v", err)
			}
			if after := descriptors(); after != before {
				t.Errorf("%d descriptors are open, %d were", after, before)
			}
		})
	}
}

// On a terminal the harness takes our place, with its streams, its exit and its signals.
func TestOnTerminal(t *testing.T) {
	for _, test := range []struct {
		role, arg string
		want      Exit
	}{
		{"exit", "6", Exit{Code: 6}},
		{"signal itself", "15", Exit{Signal: syscall.SIGTERM}},
	} {
		p := start(t, as("terminal", test.role, test.arg))
		if exit := within(t, "Wait", p.Wait); exit != test.want {
			t.Errorf("%s: %v", test.role, exit)
		}
	}
	p := start(t, as("terminal", "echo"))
	if _, err := p.Stdin.Write([]byte("password\n")); err != nil {
		t.Fatal(err)
	}
	if got := readLine(t, p); got != "password" {
		t.Errorf("got %q", got)
	}
}
