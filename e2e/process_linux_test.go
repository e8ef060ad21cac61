package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
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
		{"stays", syscall.SIGHUP, 128 + 1},
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
