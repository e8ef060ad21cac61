//go:build unix

package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A git that is to end is asked first: killed, it leaves its lock files in the caller's repository.
func TestGitIsAskedToEnd(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\ntrap 'echo >ended; exit 1' TERM\necho >began\nwhile :; do sleep .01; done\n"
	must(t, os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700)) //nolint:gosec // it is run
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := git{Dir: dir}.run(ctx, "", "status")
		ended <- err
	}()
	for began := false; !began; {
		select {
		case err := <-ended:
			t.Fatalf("it has ended by itself: %v", err)
		case <-time.After(time.Millisecond):
			_, err := os.Stat(filepath.Join(dir, "began"))
			began = err == nil
		}
	}
	cancel()
	if err := <-ended; !errors.As(err, new(*failure)) {
		t.Errorf("it ends with %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ended")); err != nil {
		t.Error("it was killed")
	}
}
