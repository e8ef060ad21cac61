package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/sandbox"
)

// measure starts a command, opens a session, has a first turn that no time is taken of (it carries the context,
// unless that is what the scenario is about) and runs the scenario. Only the proxy is asked when it has given memory
// back.
func measure(ctx context.Context, box *sandbox.Sandbox, command []string, s scenario,
	proxied bool) (got sample, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := box.Command(ctx, nil, command...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return got, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return got, err
	}
	cmd.Stderr = os.Stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return got, err
	}
	c := &client{in: in, out: bufio.NewReaderSize(out, 1<<20), pid: cmd.Process.Pid}
	got, err = c.runIn(box.Work, began, s, proxied)
	in.Close()
	if err == nil {
		_, err = io.Copy(io.Discard, out)
	} else {
		cancel()
	}
	if werr := cmd.Wait(); err == nil {
		err = werr
	}
	return got, err
}

// runIn runs a scenario in a folder, with a process that began then.
func (c *client) runIn(cwd string, began time.Time, s scenario, proxied bool) (got sample, err error) {
	if _, err := c.call("initialize", `{"protocolVersion":1,"clientInfo":{"name":"bench","version":"1"}}`); err != nil {
		return got, err
	}
	got.frames = s.frames
	if s.kind == start {
		got.took, got.used = time.Since(began), usageOf(c.pid)
		return got, nil
	}
	if err := c.open(cwd); err != nil {
		return got, err
	}
	if c.edited = s.kind == held; !c.edited {
		if err := c.ask("Good morning, and thank you for being measured."); err != nil {
			return got, err
		}
	}
	before := usageOf(c.pid)
	if got.took, err = s.run(c); err != nil {
		return got, err
	}
	got.used = usageOf(c.pid)
	got.used.cpu -= before.cpu
	got.idle = before.resident
	if s.kind == held && proxied {
		got.returned = c.returns(before.private + heldSize/4)
	}
	return got, nil
}

// returns waits, at most for some multiple of what is allowed, until the process has no more memory of its own than
// this, and says how long that took.
func (c *client) returns(size int64) time.Duration {
	began := time.Now()
	for time.Since(began) < 20*time.Second && usageOf(c.pid).private > size {
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(began)
}
