package delegation

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/delegation/bounds"
	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// prepare runs the commands of Setup in the child's folder and bounds; it may write there in Read, too.
func (r *run) prepare(ctx context.Context, f *worktree.Folder) error {
	if err := r.bound(filepath.Dir(f.Tree()), f.Tree(), f.Reads()); err != nil {
		return err
	}
	for _, command := range r.Setup {
		exit, last, err := r.shell(ctx, command, f.Cwd)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && exit.Status() != 0 {
			err = fmt.Errorf("%s: %s", exit, strings.Join(last[max(0, len(last)-3):], "; "))
		}
		if err != nil {
			return fmt.Errorf("delegation_setup: %s: %w", command, err)
		}
	}
	return nil
}

// shell runs a command of the shell in the child's folder and bounds; it may write there. last are the last lines of
// its output.
func (r *run) shell(ctx context.Context, command, cwd string) (exit upstream.Exit, last []string, err error) {
	o := upstream.Options{Command: []string{"sh", "-c", "exec </dev/null 2>&1\n" + command},
		Env: childEnvironment(r.d, r.place), Dir: cwd, Stderr: io.Discard, Grace: leaveLimit, KillAfter: killLimit}
	if r.place != nil {
		shell, err := exec.LookPath("sh")
		if err != nil {
			return exit, nil, err
		}
		place := *r.place
		place.Edit = true
		rules, env, err := place.Prepare(upstream.Profile{}, shell, o.Command, o.Env, nil, r.Closed)
		if err == nil {
			o.Command, o.Env, err = rules.Around(shell, o.Command, env)
		}
		if err != nil {
			return exit, nil, err
		}
		o.OwnGuard, o.Apart = true, true
	}
	process, err := upstream.Start(o)
	if err != nil {
		return exit, nil, err
	}
	defer context.AfterFunc(ctx, func() { process.Terminate(syscall.SIGTERM) })()
	said := chars.Excerpt{MaxTail: maxLast}
	for buffer := make([]byte, maxLast); err == nil; {
		var n int
		n, err = process.Stdout.Read(buffer)
		said.Add(buffer[:n])
	}
	exit = process.Wait()
	last = strings.Split(strings.TrimSpace(string(said.Tail)), "\n")
	return exit, last[max(0, len(last)-lastLines):], nil
}

// Of what a command in the child's folder says, this much is kept, in bytes and lines.
const (
	maxLast   = 4 << 10
	lastLines = 20
)

// watchDisk ends the run once there is more below root than the child was given and Disk together.
func (r *run) watchDisk(ctx context.Context, root string, given int64, every time.Duration) {
	if r.Disk == 0 {
		return
	}
	pause := every
	for {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		began := time.Now()
		used := worktree.Used(root) - given
		if r.place != nil {
			used += bounds.Deleted()
		}
		if used > r.Disk {
			r.stop(Stopped, fmt.Sprintf("it has written more than %d MB (delegation_disk)", r.Disk/1e6))
			return
		}
		pause = max(every, 4*time.Since(began)) // a large tree takes a while to measure
	}
}
