package upstream

import (
	"context"
	"fmt"
	"io"
	"strings"
	"syscall"
)

// output runs a command and returns what it prints, 1 MB at most. The error says how it failed.
func output(ctx context.Context, o Options) (string, error) {
	p, err := Start(o)
	if err != nil {
		return "", err
	}
	p.Hangup()
	defer context.AfterFunc(ctx, func() { p.Terminate(syscall.SIGKILL) })()
	out, err := io.ReadAll(io.LimitReader(p.Stdout, 1<<20))
	if exit := p.Wait(); err == nil && exit != (Exit{}) {
		err = fmt.Errorf("%s: %s", exit, strings.Join(p.LastStderr(), "; "))
	}
	return string(out), err
}
