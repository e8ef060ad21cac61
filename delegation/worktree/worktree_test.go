package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// write writes files, by path.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@localhost"},
		args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repo makes a repository with a commit, something that is not committed, and something that is ignored.
func repo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	write(t, dir, map[string]string{"sub/heron.txt": "grey\n", "gone.txt": "x\n", ".gitignore": "*.log\n"})
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "one")
	write(t, dir, map[string]string{"sub/heron.txt": "white\n", "new.txt": "new\n", "secret.log": "s"})
	return dir
}

func TestGit(t *testing.T) {
	for _, keep := range []bool{false, true} {
		dir := repo(t)
		before := git(t, dir, "status", "--porcelain")
		root, branch := filepath.Join(t.TempDir(), "d"), ""
		if keep {
			branch = "signet/one"
		}
		f, err := Make(t.Context(), filepath.Join(dir, "sub"), root, branch)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(f.Cwd, "heron.txt")); string(text) != "white\n" {
			t.Errorf("it sees %q, %v", text, err)
		}
		if _, err := os.Stat(filepath.Join(f.Cwd, "../new.txt")); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(f.Cwd, "../secret.log")); err == nil {
			t.Error("it sees what is ignored")
		}
		write(t, f.Cwd, map[string]string{"heron.txt": "black\n", "Ä b.txt": "b"})
		if err := os.Remove(filepath.Join(f.Cwd, "../gone.txt")); err != nil {
			t.Fatal(err)
		}
		r, err := f.Finish(t.Context(), keep, "What was delegated")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"gone.txt", "sub/heron.txt", "sub/Ä b.txt"}, r.Paths); diff != "" {
			t.Errorf("paths (-want +got):\n%s", diff)
		}
		if r.Branch != branch {
			t.Errorf("branch %q, want %q", r.Branch, branch)
		}
		if keep {
			if got := git(t, dir, "show", branch+":sub/heron.txt"); got != "black" {
				t.Errorf("the branch has %q", got)
			}
		}
		if _, err := os.Stat(root); err == nil {
			t.Error("the folder stays")
		}
		if list := git(t, dir, "worktree", "list"); strings.Count(list, "\n") != 0 {
			t.Errorf("work trees: %s", list)
		}
		if after := git(t, dir, "status", "--porcelain"); after != before {
			t.Errorf("the caller's folder is not as it was: %q, %q", before, after)
		}
		if branches := git(t, dir, "branch", "--list", "signet/*"); (branches != "") != keep {
			t.Errorf("branches: %q", branches)
		}
	}
}

// Where nothing was written nothing is handed back, and a repository without a commit has a folder to give as well.
func TestNothingWritten(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	write(t, dir, map[string]string{"a.txt": "a"})
	f, err := Make(t.Context(), dir, filepath.Join(t.TempDir(), "d"), "signet/two")
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Finish(t.Context(), true, "m")
	if err != nil || r.Branch != "" || len(r.Paths) != 0 || git(t, dir, "branch", "--list") != "" {
		t.Errorf("%+v, %v", r, err)
	}
}

// A child that commits, or goes to another branch, hands back the same.
func TestChildCommits(t *testing.T) {
	dir := repo(t)
	f, err := Make(t.Context(), dir, filepath.Join(t.TempDir(), "d"), "signet/three")
	if err != nil {
		t.Fatal(err)
	}
	git(t, f.Cwd, "checkout", "-q", "-b", "elsewhere")
	write(t, f.Cwd, map[string]string{"new.txt": "newer\n"})
	git(t, f.Cwd, "commit", "-qam", "mine")
	write(t, f.Cwd, map[string]string{"last.txt": "l"})
	r, err := f.Finish(t.Context(), true, "m")
	if err != nil || git(t, dir, "show", "signet/three:new.txt") != "newer" || git(t, dir, "show",
		"signet/three:last.txt") != "l" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestCopy(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.txt": "a", "b/c.txt": "c", "d.txt": "d"})
	for name, leads := range map[string]string{"inside": "b/c.txt", "outside": "../x", "absolute": "/etc/passwd"} {
		if err := os.Symlink(leads, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	root := filepath.Join(t.TempDir(), "d")
	f, err := Make(t.Context(), dir, root, "signet/x")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"inside": true, "outside": false, "absolute": false} {
		if _, err := os.Lstat(filepath.Join(f.Cwd, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	write(t, f.Cwd, map[string]string{"a.txt": "A", "b/e.txt": "e"})
	if err := os.Remove(filepath.Join(f.Cwd, "d.txt")); err != nil {
		t.Fatal(err)
	}
	r, err := f.Finish(t.Context(), true, "m")
	if diff := cmp.Diff([]string{"a.txt", "b/e.txt", "d.txt"}, r.Paths); diff != "" || err != nil {
		t.Errorf("%v, paths (-want +got):\n%s", err, diff)
	}
	if text, err := os.ReadFile(filepath.Join(r.Folder, "a.txt")); string(text) != "A" {
		t.Errorf("handed back: %q, %v", text, err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(text) != "a" {
		t.Error("the caller's folder was changed")
	}
}

// What cannot be made is said, and leaves nothing behind.
func TestCannotBeMade(t *testing.T) {
	large := t.TempDir()
	f, err := os.Create(filepath.Join(large, "large"))
	if err == nil {
		err = f.Truncate(MostCopied + 1)
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "d")
	if _, err := Make(t.Context(), large, root, ""); !TooLarge(err) {
		t.Errorf("large: %v", err)
	}
	dir := repo(t)
	git(t, dir, "branch", "signet/taken")
	if _, err := Make(t.Context(), dir, root, "signet/taken"); err == nil ||
		!strings.Contains(err.Error(), "signet/taken") {
		t.Errorf("a branch that is there: %v", err)
	}
	if git(t, dir, "rev-parse", "--verify", "-q", "signet/taken") == "" {
		t.Error("somebody's branch is gone")
	}
	if _, err := os.Stat(root); err == nil {
		t.Error("something is left")
	}
}

// What is left of a work tree that was being made when its process was killed goes away.
func TestDiscard(t *testing.T) {
	dir := repo(t)
	root := filepath.Join(t.TempDir(), "d")
	if _, err := Make(t.Context(), dir, root, ""); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "worktree", "lock", "--reason", "initializing", filepath.Join(root, work))
	if err := os.Remove(filepath.Join(root, work, ".git")); err != nil {
		t.Fatal(err)
	}
	if err := Discard(t.Context(), dir, root); err != nil {
		t.Error(err)
	}
	if list := git(t, dir, "worktree", "list"); strings.Contains(list, "\n") {
		t.Errorf("work trees: %s", list)
	}
	if _, err := os.Stat(root); err == nil {
		t.Error("the folder stays")
	}
}

func TestInside(t *testing.T) {
	dir := repo(t)
	f, err := Make(t.Context(), filepath.Join(dir, "sub"), filepath.Join(t.TempDir(), "d"), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", filepath.Join(f.Cwd, "link")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"heron.txt": true, "../new.txt": true, "not/there/yet.txt": true, f.Cwd + "/x": true,
		"../../../x": false, "/etc/passwd": false, "link/passwd": false, dir + "/new.txt": false, "../.git": false,
	} {
		if got := f.Inside(path); got != want {
			t.Errorf("Inside(%s) = %v", path, got)
		}
	}
	if err := f.Drop(t.Context()); err != nil {
		t.Error(err)
	}
}
