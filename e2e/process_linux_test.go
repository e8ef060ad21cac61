package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// signal signals the proxy alone, if it is still there.
func (c *client) signal(sig os.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.t.Errorf("%v: %v", sig, err)
	}
}

// Told to end, the proxy passes the signal on, and how the harness ends is how the proxy ends.
func TestSignalsPassedOn(t *testing.T) {
	t.Parallel()
	for i, tc := range []struct {
		words string
		sig   syscall.Signal
		code  int
	}{
		{"stays", syscall.SIGTERM, 128 + 15},
		{"stays", syscall.SIGHUP, 128 + 1},
		{"stays polite", syscall.SIGHUP, 3},
		{"stays polite", syscall.SIGTERM, 3},
		{"stays deaf", syscall.SIGTERM, 128 + 9},
		{"stays polite litters", syscall.SIGTERM, 3},
	} {
		memory := []string{"embedded", "off"}[i%2]
		t.Run(fmt.Sprint(tc.words, "/", tc.sig, "/", memory), func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			c := b.unleash(t, "slow "+tc.words, "--memory", memory)
			c.begin()
			c.beginTurn()
			c.signal(tc.sig)
			if rest := c.rest(); rest != "" {
				t.Errorf("the client was sent %s", rest)
			}
			if code := c.code(); code != tc.code {
				t.Errorf("exit %d, want %d", code, tc.code)
			}
			if got := c.noted(); got != tc.sig.String() {
				t.Errorf("the harness got %q, want %q", got, tc.sig)
			}
			if said := c.said(); said != "" {
				t.Errorf("people were told %s", said)
			}
			b.alone()
		})
	}
}

// Ctrl-C reaches everybody in front of the terminal; the client cancels over the protocol, so we stay, and so does the
// harness.
func TestInterruptIgnored(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	c := b.unleash(t, "slow")
	c.begin()
	c.signal(os.Interrupt)
	c.beginTurn()
	c.signal(os.Interrupt)
	c.cancel()
	c.until(`"stopReason":"cancelled"`)
	c.hangUp()
	c.rest()
	if code := c.code(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if got := c.noted(); got != "" {
		t.Errorf("the harness got %q", got)
	}
	if said := c.said(); said != "" {
		t.Errorf("people were told %s", said)
	}
}

// The proxy ends behind its harness also if nobody reads stderr, and that is full.
func TestHarnessEndsUnread(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	read, write, err := os.Pipe()
	must(b, err)
	defer read.Close()
	must(b, write.SetWriteDeadline(time.Now().Add(10*time.Millisecond)))
	for line := make([]byte, unix.PathMax); err == nil; {
		_, err = write.Write(line)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := b.Command(ctx, nil, proxyBin, "--memory", "embedded", "--agent", "brief", "--", "sh", "-c", "exit 3")
	cmd.Stderr = write
	must(b, cmd.Start())
	must(b, write.Close())
	if _ = cmd.Wait(); ctx.Err() != nil || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("%v, exit %d", ctx.Err(), cmd.ProcessState.ExitCode())
	}
}

// What cannot be started is said in a line, with the code of a shell. Some clients take that code for a program of ours
// that is missing; the first line of stderr names the one that is.
func TestNotStarted(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for missing, flags := range map[string][]string{
		"/nowhere/agent": {"--", "/nowhere/agent"},
		"gemini":         {"--agent", "gemini"},
		"no-agent":       {"--", "/bin/sh", "-c", "no-agent"}, // a script that starts it
	} {
		r := b.try(append([]string{"env", "PATH=/nowhere", proxyBin, "--memory", "embedded"}, flags...)...)
		first, _, _ := strings.Cut(onceSaid.ReplaceAllString(r.Stderr, ""), "\n")
		if r.Code != 127 || r.Stdout != "" || !strings.Contains(first, missing) {
			t.Errorf("%s: exit %d, %q, %q", missing, r.Code, r.Stdout, r.Stderr)
		}
	}
}

// A client that logs in runs our command line on a terminal, with arguments of the agent's appended: the harness gets
// both.
func TestTerminal(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"a command", []string{"--agent", "mine", "--", self, "acp"}, `terminal true, arguments ["acp"]`},
		{"appended to a command", []string{"--", self, "acp", "login", "--device"}, `terminal true, arguments ["acp" "login" "--device"]`},
		{"appended to a name", []string{"--agent", "mine", "login", "--device", "a b"}, `terminal true, arguments ["--acp" "login" "--device" "a b"]`},
		{"a name", []string{"--agent", "mine", "--memory", "off"}, `terminal true, arguments ["--acp"]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			config := fmt.Sprintf("acp:\n  agents:\n    mine:\n      command: [%q, --acp]\n", self)
			must(b, os.WriteFile(b.Signet+"/agent.yaml", []byte(config), 0o600))
			terminal, end := openTerminal(t)
			cmd := b.Command(t.Context(), []string{unrulyVariable + "=hello"},
				append([]string{proxyBin}, tc.args...)...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = end, end, end
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			must(b, cmd.Start())
			end.Close()
			got := onTerminal.ReplaceAllString(readTerminal(t, terminal), "")
			if err := cmd.Wait(); err != nil || strings.TrimSpace(got) != tc.want {
				t.Errorf("%v\n got %s\nwant %s", err, got, tc.want)
			}
		})
	}
}

// onTerminal is what a person on a terminal is told before the harness speaks.
var onTerminal = regexp.MustCompile(`(?m)^signet-acp-proxy: on a terminal this is .*\r?\n`)

// openTerminal makes a terminal and gives the person's end and the program's.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return person, program
}

// readTerminal reads until nobody holds the other end.
func readTerminal(t *testing.T, person *os.File) string {
	t.Helper()
	var all strings.Builder
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := person.Read(buf)
			all.Write(buf[:n])
			if err != nil { // EIO
				return
			}
		}
	}()
	select {
	case <-read:
	case <-time.After(patience):
		t.Fatal("the terminal is still in use")
	}
	return all.String()
}
