package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Files are committed that are as HEAD has them, deleted ones too; no filter of the repository is asked.
func TestCommitted(t *testing.T) {
	top := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", top, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "-q")
	if err := os.Mkdir(filepath.Join(top, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"same.go", "edited.go", "staged.go", "gone.go", "removed.go", "d/a b.go"} {
		write(name, name)
	}
	run("add", ".")
	if got := Committed(t.Context(), top, []string{"same.go"}); got != nil {
		t.Errorf("before the first commit: %q", got)
	}
	run("commit", "-qm", "one")
	run("rm", "-q", "removed.go")
	run("commit", "-qm", "two")
	write("edited.go", "other")
	write("staged.go", "other")
	run("add", "staged.go")
	write("new.go", "new")
	if err := os.Remove(filepath.Join(top, "gone.go")); err != nil {
		t.Fatal(err)
	}
	ran := filepath.Join(t.TempDir(), "ran")
	run("config", "filter.spy.clean", "touch "+ran+"; cat")
	write(".gitattributes", "* filter=spy\n")
	all := []string{"same.go", "edited.go", "staged.go", "new.go", "gone.go", "removed.go", "d/a b.go", "../x", "/etc/passwd", "never.go"}
	if got := Committed(t.Context(), top, all); !slices.Equal(got, []string{"same.go", "removed.go", "d/a b.go", "never.go"}) {
		t.Errorf("committed: %q", got)
	}
	if got := Committed(t.Context(), filepath.Join(top, "d"), []string{"a b.go"}); !slices.Equal(got, []string{"a b.go"}) {
		t.Errorf("from a folder below: %q", got)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a filter ran")
	}
	if got := Committed(t.Context(), t.TempDir(), all); got != nil {
		t.Errorf("without a repository: %q", got)
	}
}
