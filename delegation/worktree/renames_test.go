package worktree

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestRenames(t *testing.T) {
	top := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", top, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	run("init", "-q")
	for _, name := range []string{"a.go", "with space.go"} {
		if err := os.WriteFile(filepath.Join(top, name), []byte("package "+name+", which is long enough\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run("add", ".")
	run("commit", "-qm", "one")
	run("mv", "a.go", "b.go")
	run("commit", "-qm", "two")
	run("mv", "b.go", "c.go")
	run("mv", "with space.go", "d.go")
	run("commit", "-qm", "three")
	got, err := Renames(t.Context(), top)
	if want := map[string]string{"a.go": "b.go", "b.go": "c.go", "with space.go": "d.go"}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Renames(t.Context(), t.TempDir()); err == nil {
		t.Error("there is no repository")
	}
}
