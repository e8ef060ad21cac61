package delegation

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
)

// A child past its disk is ended; one that has as much as it was given is not.
func TestWatchDisk(t *testing.T) {
	for name, tt := range map[string]struct {
		disk, given int64
		ends        bool
	}{
		"past it": {100, 0, true}, "within it": {101, 0, false}, "given": {100, 1, false}, "no limit": {0, 0, false},
	} {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, "a"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "a", "b"), make([]byte, 101), 0o600); err != nil {
			t.Fatal(err)
		}
		r := &run{Runner: Runner{Disk: tt.disk}}
		r.ctx, r.cancel = context.WithCancelCause(t.Context())
		ctx, cancel := context.WithTimeout(r.ctx, 30*time.Millisecond)
		if tt.ends {
			ctx = r.ctx // it returns by itself
		}
		r.watchDisk(ctx, root, tt.given, time.Millisecond)
		end := r.stopped()
		if (end.state == Stopped && strings.Contains(end.why, "delegation_disk")) != tt.ends || (r.ctx.Err() != nil) != tt.ends {
			t.Errorf("%s: %+v", name, end)
		}
		cancel()
		r.cancel(nil)
	}
}

// Commands of Setup run in the child's folder, and what they write is not taken for its work; one that fails says why,
// and nothing is left.
func TestSetup(t *testing.T) {
	dir, folders := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"cat a.txt >made; cat; echo noise": "", "echo no network >&2; exit 3": "no network", "sleep 100": "deadline",
	} {
		r := &run{Runner: Runner{Setup: []string{"true", command}}}
		limit := time.Minute
		if want == "deadline" {
			limit = 500 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		f, err := worktree.Make(ctx, dir, filepath.Join(folders, "01D"), worktree.Options{Edit: true, Prepare: r.prepare})
		cancel()
		if want != "" {
			if left, _ := os.ReadDir(folders); err == nil || len(left) > 0 ||
				want != "deadline" && !strings.Contains(err.Error(), "delegation_setup: "+command) ||
				want != "deadline" && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; left: %v", command, err, left)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(f.Cwd, "made")); string(text) != "a" {
			t.Errorf("%s: made %q, %v", command, text, err)
		}
		if w, err := f.Finish(t.Context(), "m"); err != nil || len(w.Paths) > 0 {
			t.Errorf("%s: taken for its work: %q, %v", command, w.Paths, err)
		}
	}
}
