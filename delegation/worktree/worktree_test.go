package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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

// read returns a file's content, "" for none.
func read(dir, name string) string {
	text, _ := os.ReadFile(filepath.Join(dir, name))
	return string(text)
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@localhost",
		"-c", "protocol.file.allow=always"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repo makes a repository with a commit, something that is not committed, and something that is ignored.
func repo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	run(t, dir, "init", "-q", "-b", "main", "--template=")
	write(t, dir, map[string]string{"sub/heron.txt": "grey\n", "gone.txt": "x\n", ".gitignore": "*.log\n"})
	run(t, dir, "add", "-A")
	run(t, dir, "commit", "-qm", "one")
	write(t, dir, map[string]string{"sub/heron.txt": "white\n", "new.txt": "new\n", "secret.log": "s"})
	return dir
}

// make1 makes a folder for a caller in dir.
func make1(t *testing.T, dir string, o Options) *Folder {
	t.Helper()
	f, err := Make(t.Context(), dir, filepath.Join(t.TempDir(), "01D"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Drop(t.Context()) })
	return f
}

// state is all that a caller's repository has: its files, status, refs, objects and configuration.
func state(t *testing.T, dir string) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", `cd "$1" && git status --porcelain && git for-each-ref && git count-objects -v &&
		cat .git/config .git/HEAD && find . -type f ! -path "./.git/*" -exec cksum {} + | sort -k3`, "sh", dir).
		CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func TestGit(t *testing.T) {
	for _, edit := range []bool{false, true} {
		dir := repo(t)
		before := state(t, dir)
		f := make1(t, filepath.Join(dir, "sub"), Options{Edit: edit})
		top := filepath.Dir(f.Cwd)
		if got := read(f.Cwd, "heron.txt") + read(top, "new.txt") + read(top, "secret.log"); got != "white\nnew\n" {
			t.Errorf("it sees %q", got)
		}
		if got, want := run(t, top, "status", "--porcelain"), run(t, dir, "status", "--porcelain"); got != want {
			t.Errorf("its git says %q, the caller's %q", got, want)
		}
		if got := run(t, top, "log", "--format=%s", "main"); got != "one" {
			t.Errorf("its history: %s", got)
		}
		head := run(t, dir, "rev-parse", "HEAD")
		if got := run(t, dir, "for-each-ref", "--format=%(objectname)", "refs/signet/01d"); got != head {
			t.Errorf("the caller's repository holds %q for it, HEAD is %s", got, head)
		}
		write(t, f.Cwd, map[string]string{"heron.txt": "black\n", "Ä b.txt": "b", "x.log": "ignored"})
		if err := os.Remove(filepath.Join(top, "gone.txt")); err != nil {
			t.Fatal(err)
		}
		w, err := f.Finish(t.Context(), "What was delegated")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"gone.txt", "sub/heron.txt", "sub/Ä b.txt"}, w.Paths); diff != "" {
			t.Errorf("paths (-want +got):\n%s", diff)
		}
		if (w.Branch == "signet/01d") != edit || len(w.NotTaken) > 0 {
			t.Errorf("%+v", w)
		}
		_, err = os.Stat(f.root)
		if (err == nil) != edit {
			t.Errorf("its folder: %v", err)
		}
		if edit {
			if got := run(t, f.git().Dir, "diff", "--stat", head, w.Branch); !strings.Contains(got, "3 files changed") {
				t.Errorf("the branch changes more than the child did:\n%s", got)
			}
			if got := run(t, f.git().Dir, "show", w.Branch+":sub/heron.txt"); got != "black" {
				t.Errorf("the branch has %q", got)
			}
			unchanged := run(t, dir, "hash-object", "new.txt")
			if _, err := os.Stat(filepath.Join(f.git().Dir, "objects", unchanged[:2], unchanged[2:])); err == nil {
				t.Error("the content of what is as it was is kept")
			}
			if err := Discard(t.Context(), filepath.Dir(f.root), f.root); err != nil {
				t.Error(err)
			}
		}
		if diff := cmp.Diff(before, state(t, dir)); diff != "" {
			t.Errorf("the caller's folder (-before +after):\n%s", diff)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, dir, leads, name string) {
	t.Helper()
	must(t, os.Symlink(leads, filepath.Join(dir, name)))
}

// Where nothing was written nothing is handed back, and a repository without a commit has a folder to give as well.
func TestNothingWritten(t *testing.T) {
	dir := t.TempDir()
	run(t, dir, "init", "-q")
	write(t, dir, map[string]string{"a.txt": "a"})
	f := make1(t, dir, Options{Edit: true})
	w, err := f.Finish(t.Context(), "m")
	if err != nil || w.Branch != "" || len(w.Paths) != 0 || run(t, dir, "for-each-ref") != "" {
		t.Errorf("%+v, %v", w, err)
	}
	if _, err := Open(t.Context(), filepath.Dir(f.root), f.root); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
}

// Outside of git it is the same.
func TestWithoutGit(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.txt": "a", "b/c.txt": "c", "d.txt": "d"})
	link(t, dir, "b/c.txt", "link")
	must(t, os.Mkdir(filepath.Join(dir, "empty"), 0o700))
	f := make1(t, dir, Options{Edit: true})
	if read(f.Cwd, "link") != "c" {
		t.Error("the link is gone")
	}
	if _, err := os.Stat(filepath.Join(f.Cwd, "empty")); err != nil {
		t.Error(err)
	}
	write(t, f.Cwd, map[string]string{"a.txt": "A", "b/e.txt": "e"})
	must(t, os.Remove(filepath.Join(f.Cwd, "d.txt")))
	w, err := f.Finish(t.Context(), "m")
	if diff := cmp.Diff([]string{"a.txt", "b/e.txt", "d.txt"}, w.Paths); diff != "" || err != nil {
		t.Errorf("%v, paths (-want +got):\n%s", err, diff)
	}
	if read(dir, "a.txt") != "a" {
		t.Error("the caller's folder was changed")
	}
	r, err := Open(t.Context(), filepath.Dir(f.root), f.root)
	must(t, err)
	if _, _, err := r.Apply(t.Context(), ApplyOptions{Steering: true}); err != nil || read(dir, "a.txt")+read(dir, "b/e.txt")+read(dir, "d.txt") != "Ae" {
		t.Errorf("applied: %v", err)
	}
}

// What cannot be moved to its place, or was saved while others were, leaves all as it was; what was saved stays.
func TestApplyUndone(t *testing.T) {
	type files = map[string]string // "" for none
	before := files{"a": "a", "b": "", "c": "c", "gone/x": "x", "l": "c"}
	for name, tt := range map[string]struct {
		first, then files // what a person saves before all is moved, and behind that
		missing     string
		want        files  // beside before
		says        string // in the error
	}{
		"cannot be moved":  {nil, nil, "missing", nil, "nothing was applied: "},
		"saved":            {files{"c": "mine"}, nil, "", files{"c": "mine", "l": "mine"}, "left unchanged: c; try"},
		"two are saved":    {files{"a": "m", "c": "m"}, nil, "", files{"a": "m", "c": "m", "l": "m"}, "left unchanged: a, c; try"},
		"saved in place":   {files{"a": "A"}, nil, "", files{"a": "A"}, "left unchanged: a; try"},
		"a new one":        {files{"b": "mine"}, nil, "", files{"b": "mine"}, "left unchanged: b; try"},
		"removed":          {files{"a": ""}, nil, "", files{"a": ""}, "left unchanged: a; try"},
		"saved, and to go": {files{"gone/x": "mine"}, nil, "", files{"gone/x": "mine"}, "left unchanged: gone/x; try"},
		"a link":           {files{"l": ""}, nil, "", files{"l": ""}, "left unchanged: l; try"},
		// the file that is open in an editor is the one that was replaced
		"as it was moved": {nil, files{"old/1": "mine"}, "", files{"a": "mine"}, "left unchanged: a; try"},
		"as it was moved, and after it": {nil, files{"old/1": "mine", "c": "more"}, "", files{"a": "mine", "c": "more", "l": "more"},
			"left unchanged: a; try again; saved meanwhile, and left unchanged: c"},
		"a new one where one went": {nil, files{"old/1": "mine", "gone/x": "back"}, "", files{"a": "mine", "gone/x": "back"},
			"meanwhile, and left unchanged: gone/x"},
		"removed after it": {nil, files{"old/1": "mine", "c": ""}, "", files{"a": "mine", "c": "", "l": ""}, "left unchanged: c"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, files{"a": "a", "c": "c", "gone/x": "x", "new/a": "A", "new/b": "B", "new/c": "C", "new/l": "L",
				"new/n/in": "N"})
			link(t, dir, "c", "l")
			root, err := os.OpenRoot(dir)
			must(t, err)
			defer root.Close()
			must(t, root.Mkdir("old", 0o700))
			m := &move{root: root, beside: ".", seen: map[string]fs.FileInfo{}}
			for _, name := range []string{"a", "c", "gone/x"} { // so that a save is seen, however soon
				must(t, root.Chtimes(name, time.Now(), time.Now().Add(-time.Hour)))
			}
			for name := range before {
				if info := m.at(name); info != nil {
					m.seen[name] = info
				}
			}
			save := func(all files) {
				for name, text := range all {
					must(t, os.RemoveAll(filepath.Join(dir, name)))
					if text != "" {
						write(t, dir, files{name: text})
					}
				}
			}
			save(tt.first)
			fresh := []string{"a", "b", "n/in", "c", "l"}
			if tt.missing != "" {
				fresh = append(fresh, tt.missing)
			}
			err = m.all([]string{"gone/x"}, fresh)
			for name, text := range tt.first {
				if name != "gone/x" && read(dir, name) != text {
					t.Errorf("%s was replaced for a moment", name)
				}
			}
			if (err == nil) != (tt.then != nil) {
				t.Errorf("moved: %v", err)
			}
			if tt.then != nil {
				save(tt.then)
				err = errChanged
			}
			if err = m.takeBack(err); err == nil || !strings.Contains(err.Error(), tt.says) || m.needed {
				t.Errorf("%v, want %q", err, tt.says)
			}
			if m.at("n") != nil {
				t.Error("a folder is left")
			}
			want := maps.Clone(before)
			maps.Copy(want, tt.want)
			for name, text := range want {
				if got := read(dir, name); got != text {
					t.Errorf("%s: %q, want %q", name, got, text)
				}
			}
		})
	}
}

// What cannot be put back is named, and what was there is kept.
func TestApplyHalf(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a": "a", "b": "b", "x/old/0": "before"})
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	m := &move{root: root, beside: "x", names: []string{"a/in"}, done: []fs.FileInfo{nil}}
	m.seen = map[string]fs.FileInfo{"a/in": m.at("x/old/0")}
	err = m.takeBack(errors.New("no room"))
	if err == nil || !strings.Contains(err.Error(), "only partly applied. no room") || !m.needed ||
		!strings.Contains(err.Error(), "Not restored: a/in (the originals are in x/old)") || read(dir, "x/old/0") != "before" {
		t.Errorf("%v", err)
	}
}

// Whoever saves a file again and again while a result is applied loses nothing.
func TestApplyBesideSaves(t *testing.T) {
	dir := t.TempDir()
	all := map[string]string{}
	for i := range 300 {
		all[fmt.Sprintf("%03d", i)] = "theirs\n"
	}
	write(t, dir, all)
	f := make1(t, dir, Options{Edit: true})
	for name := range all {
		all[name] = "the child's\n"
	}
	write(t, f.Cwd, all)
	_, err := f.Finish(t.Context(), "m")
	must(t, err)
	r, err := Open(t.Context(), filepath.Dir(f.root), f.root)
	must(t, err)
	failed := make(chan error)
	go func() {
		_, _, err := r.Apply(t.Context(), ApplyOptions{Steering: true})
		failed <- err
	}()
	for read(dir, "000") == "theirs\n" {
		goruntime.Gosched() // the first is moved
	}
	write(t, dir, map[string]string{"299": "mine\n"})
	err = <-failed
	if read(dir, "299") != "mine\n" {
		t.Errorf("what was saved is gone: %q; %v", read(dir, "299"), err)
	}
	if err != nil && (read(dir, "000") != "theirs\n" || !strings.Contains(err.Error(), "nothing was applied: changed "+
		"meanwhile, and left unchanged: 299")) {
		t.Errorf("%v; the first one: %q", err, read(dir, "000"))
	}
}

// Only a folder below our own is opened or removed, whatever the database says.
func TestForeignFolder(t *testing.T) {
	dir, folders := repo(t), t.TempDir()
	link(t, folders, dir, "link")
	for _, root := range []string{dir, folders, filepath.Join(folders, ".."), folders + "/x/../../y", filepath.Join(folders,
		"link"), filepath.Join(folders, "x", "y"), ""} {
		if _, err := Open(t.Context(), folders, root); err == nil || errors.Is(err, ErrNothing) {
			t.Errorf("%q is opened: %v", root, err)
		}
		if err := Discard(t.Context(), folders, root); err == nil {
			t.Errorf("%q is discarded", root)
		}
	}
	if read(dir, "new.txt") == "" {
		t.Error("it is gone")
	}
	if err := Discard(t.Context(), folders, filepath.Join(folders, "gone")); err != nil {
		t.Errorf("what is gone already: %v", err)
	}
}

// What cannot be made is said, and leaves nothing behind.
func TestCannotBeMade(t *testing.T) {
	large := t.TempDir()
	f, err := os.Create(filepath.Join(large, "large"))
	if err == nil {
		err = f.Truncate(maxCopied + 1)
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "d")
	if _, err := Make(t.Context(), large, root, Options{}); !errors.As(err, new(TooLarge)) {
		t.Errorf("large: %v", err)
	}
	if _, err := os.Stat(root); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something is left")
	}
}

// What a killed runner has left is taken or thrown away, however far it came.
func TestKilled(t *testing.T) {
	for name, left := range map[string]func(t *testing.T, f *Folder){
		"while it worked": func(*testing.T, *Folder) {},
		"while the files were copied": func(t *testing.T, f *Folder) {
			must(t, os.RemoveAll(filepath.Join(f.root, storeName)))
		},
		"at once": func(t *testing.T, f *Folder) { must(t, os.Remove(filepath.Join(f.root, callerName))) },
		"while git held what HEAD names": func(t *testing.T, f *Folder) {
			must(t, os.RemoveAll(filepath.Join(f.root, storeName)))
			lock := filepath.Join(f.Repositories[0].Common, "refs", "signet", "01d.lock")
			must(t, os.WriteFile(lock, nil, 0o600))
		},
	} {
		dir := repo(t)
		before := state(t, dir)
		f := make1(t, dir, Options{Edit: true})
		write(t, f.Cwd, map[string]string{"new.txt": "newer\n"})
		must(t, f.lock.Close())
		left(t, f)
		r, err := Open(t.Context(), filepath.Dir(f.root), f.root)
		if name == "while it worked" {
			must(t, err)
			if text, err := r.Stat(t.Context()); err != nil || !strings.Contains(text, "new.txt") {
				t.Errorf("%s: %v", text, err)
			}
		} else if !errors.Is(err, ErrNothing) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "at once" { // nothing in the caller's repository is made before it is noted where that is
			must(t, f.Repositories[0].release(t.Context(), "01d"))
		}
		must(t, Discard(t.Context(), filepath.Dir(f.root), f.root))
		if diff := cmp.Diff(before, state(t, dir)); diff != "" {
			t.Errorf("%s (-before +after):\n%s", name, diff)
		}
		if _, err := os.Stat(f.root); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: its folder is left", name)
		}
	}
}

// A folder that is being worked at is not removed.
func TestHeld(t *testing.T) {
	f := make1(t, repo(t), Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := Discard(ctx, filepath.Dir(f.root), f.root); err == nil || read(f.root, callerName) == "" {
		t.Errorf("it is removed: %v", err)
	}
}

func TestInside(t *testing.T) {
	dir := repo(t)
	f := make1(t, filepath.Join(dir, "sub"), Options{})
	link(t, f.Cwd, "/etc", "link")
	link(t, f.Cwd, "/etc/not-there", "dangling")
	link(t, f.Cwd, "../.git", "git")
	for path, want := range map[string]bool{
		"heron.txt": true, "../new.txt": true, "not/there/yet.txt": true, f.Cwd + "/x": true, "git.txt": true,
		"../.gitignore": true, ".github/x": true,
		"../../../x": false, "/etc/passwd": false, "link/passwd": false, "dangling": false, "dangling/x": false,
		dir + "/new.txt": false, "../.git": false, "../.git/hooks/x": false, "x/.git": false, "x/.GIT/config": false,
		"x/.git./config": false, "x/.git ": false, "x/GIT~1/config": false, "x/.g\u200cit": false,
		"x/.git::$INDEX_ALLOCATION/config": false, `x\.git\config`: false, "git/config": false,
	} {
		if got := f.Inside(path); got != want {
			t.Errorf("Inside(%q) = %v", path, got)
		}
	}
}

// What is there is there: submodules and other repositories with their files, and what is ignored where it is asked for;
// changes in them come back.
func TestInnerRepositories(t *testing.T) {
	inner, dir := repo(t), repo(t)
	run(t, inner, "commit", "-qam", "two")
	run(t, dir, "submodule", "add", "-q", inner, "lib")
	run(t, dir, "commit", "-qm", "with a submodule")
	run(t, dir, "clone", "-q", inner, "nested")
	write(t, dir, map[string]string{"lib/sub/heron.txt": "dirty\n", "lib/own.txt": "own\n", "nested/x.log": "x",
		".env.log": "env", "node.log/a/b": "b"})
	before := state(t, dir)
	f := make1(t, dir, Options{Edit: true, Copy: []string{"node.log", ".env*"}})
	for name, want := range map[string]string{"lib/sub/heron.txt": "dirty\n", "lib/own.txt": "own\n",
		"nested/sub/heron.txt": "white\n", "nested/x.log": "", ".env.log": "env", "node.log/a/b": "b", "secret.log": ""} {
		if got := read(f.Cwd, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := run(t, filepath.Join(f.Cwd, "lib"), "status", "--porcelain"); got != "M sub/heron.txt\n?? own.txt" {
		t.Errorf("git in the submodule says %q", got)
	}
	run(t, inner, "update-ref", "-d", "refs/heads/main") // nothing of it is needed any more
	write(t, f.Cwd, map[string]string{"lib/sub/heron.txt": "black\n", "lib/new/a.txt": "a\n", "nested/gone.txt": "y\n",
		".env.log": "changed", "node.log/c": "c"})
	run(t, filepath.Join(f.Cwd, "lib"), "commit", "-qam", "mine")
	w, err := f.Finish(t.Context(), "m")
	must(t, err)
	if diff := cmp.Diff([]string{"lib/new/a.txt", "lib/sub/heron.txt", "nested/gone.txt"}, w.Paths); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := run(t, f.git().Dir, "diff", "--name-only", w.Branch+"~", w.Branch); got != "" {
		t.Errorf("on the branch of the outer one: %s", got)
	}
	r, err := Open(t.Context(), filepath.Dir(f.root), f.root)
	must(t, err)
	if _, _, err := r.Apply(t.Context(), ApplyOptions{Steering: true}); err != nil || read(dir, "lib/sub/heron.txt")+read(dir, "lib/new/a.txt")+
		read(dir, "nested/gone.txt") != "black\na\ny\n" {
		t.Errorf("applied: %v", err)
	}
	must(t, Discard(t.Context(), filepath.Dir(f.root), f.root))
	for _, one := range []string{dir, dir + "/lib", dir + "/nested"} {
		if got := run(t, one, "for-each-ref", "refs/signet"); got != "" {
			t.Errorf("%s: %s", one, got)
		}
	}
	if before == state(t, dir) {
		t.Error("nothing was applied")
	}
}

// What a child, and the caller meanwhile, may do, and what comes back of it: all, or nothing.
func TestResults(t *testing.T) {
	long := strings.Repeat("line\n", 20)
	type files = map[string]string
	both := func(child, caller files) func(*testing.T, string, string) {
		return func(t *testing.T, dir, own string) { write(t, own, child); write(t, dir, caller) }
	}
	for name, tt := range map[string]struct {
		do    func(t *testing.T, dir, own string)
		paths []string
		want  files  // the caller's files then; "" for none
		fails string // words of the error of Apply; "gone": of Finish
	}{
		"both ends of a file": {both(files{"long.txt": long + "child\n"}, files{"long.txt": "caller\n" + long}),
			[]string{"long.txt"}, files{"long.txt": "caller\n" + long + "child\n"}, ""},
		"the same line": {both(files{"a.txt": "child\n", "aa.txt": "child\n"}, files{"a.txt": "caller\n"}),
			[]string{"a.txt", "aa.txt"}, nil, "CONFLICT (content): Merge conflict in a.txt"},
		"the same change": {both(files{"a.txt": "same\n"}, files{"a.txt": "same\n"}), []string{"a.txt"},
			files{"a.txt": "same\n"}, ""},
		"a file that is ignored stands there": {both(files{".gitignore": "", "x.log": "child\n"}, files{"x.log": "caller\n"}),
			[]string{".gitignore", "x.log"}, nil, "x.log"},
		"a folder stands in its place": {both(files{"there": "child\n"}, files{"there/in.txt": "caller\n"}), []string{"there"},
			nil, "there is a folder with there/in.txt"},
		"a file that the caller has deleted": {func(t *testing.T, dir, own string) {
			write(t, own, files{"a.txt": "child\n"})
			must(t, os.Remove(filepath.Join(dir, "a.txt")))
		}, []string{"a.txt"}, nil, "CONFLICT (modify/delete)"},
		"renamed, and changed": {func(t *testing.T, dir, own string) {
			must(t, os.Rename(filepath.Join(own, "long.txt"), filepath.Join(own, "moved.txt")))
			write(t, dir, files{"long.txt": "caller\n" + long})
		}, []string{"long.txt", "moved.txt"}, files{"long.txt": "", "moved.txt": "caller\n" + long}, ""},
		"a folder becomes a file, a file a folder": {func(t *testing.T, _, own string) {
			must(t, os.RemoveAll(filepath.Join(own, "sub")))
			must(t, os.Remove(filepath.Join(own, "a.txt")))
			write(t, own, files{"sub": "file\n", "a.txt/in.txt": "in\n"})
		}, []string{"a.txt", "a.txt/in.txt", "sub", "sub/heron.txt"}, files{"sub": "file\n", "a.txt/in.txt": "in\n"}, ""},
		"a link stands in its way": {func(t *testing.T, dir, own string) {
			write(t, own, files{"way/in.txt": "child\n"})
			link(t, dir, t.TempDir(), "way")
		}, []string{"way/in.txt"}, nil, "way"},

		"names of our own": {func(t *testing.T, dir, own string) {
			write(t, own, files{".signet-ignore": "i\n", ".signet-01d/new/a": "n\n", ".signet-01d/old/0": "o\n"})
		}, []string{".signet-01d/new/a", ".signet-01d/old/0", ".signet-ignore"}, files{".signet-ignore": "i\n",
			".signet-01d/new/a": "n\n", ".signet-01d/old/0": "o\n"}, ""},
		"it commits elsewhere": {func(t *testing.T, _, own string) {
			run(t, own, "checkout", "-q", "-b", "elsewhere")
			write(t, own, files{"new.txt": "newer\n"})
			run(t, own, "add", "-A")
			run(t, own, "commit", "-qm", "mine")
			run(t, own, "tag", "mine")
		}, []string{"new.txt"}, files{"new.txt": "newer\n"}, ""},
		"it removes its git": {func(t *testing.T, _, own string) {
			must(t, os.RemoveAll(filepath.Join(own, ".git")))
			write(t, own, files{"new.txt": "newer\n"})
		}, []string{"new.txt"}, files{"new.txt": "newer\n"}, ""},
		"it breaks its git": {both(files{".git/HEAD": "no", "new.txt": "newer\n"}, nil), []string{"new.txt"},
			files{"new.txt": "newer\n"}, ""},
		"a file in place of its git": {func(t *testing.T, _, own string) {
			must(t, os.Rename(own+"/.git", own+"/x.log"))
			link(t, own, "x.log", ".git")
			write(t, own, files{"new.txt": "newer\n"})
		}, []string{"new.txt"}, files{"new.txt": "newer\n"}, ""},
		"the caller collects garbage": {func(t *testing.T, dir, own string) {
			run(t, dir, "checkout", "-q", "--orphan", "other")
			run(t, dir, "reset", "-q") // what was staged is borrowed, too
			run(t, dir, "branch", "-qD", "main")
			run(t, dir, "reflog", "expire", "--expire=now", "--all")
			run(t, dir, "gc", "-q", "--prune=now")
			run(t, own, "fsck")
			run(t, own, "show", "main:gone.txt")
			write(t, own, files{"new.txt": "newer\n"})
		}, []string{"new.txt"}, files{"new.txt": "newer\n"}, ""},
		"the caller rebases": {func(t *testing.T, dir, own string) {
			run(t, dir, "checkout", "-q", "-b", "next")
			run(t, dir, "commit", "-qam", "two")
			run(t, dir, "commit", "-q", "--amend", "-m", "three")
			write(t, own, files{"new.txt": "newer\n"})
		}, []string{"new.txt"}, files{"new.txt": "newer\n"}, ""},
		"the caller's branch changes": {func(t *testing.T, dir, own string) {
			write(t, own, files{"gone.txt": "x\ny\n"})
			run(t, dir, "checkout", "-q", "--orphan", "empty")
			run(t, dir, "rm", "-qrf", ".")
		}, []string{"gone.txt"}, nil, "CONFLICT (modify/delete)"},

		"a large file": {both(files{"large": strings.Repeat("0123456789", 1<<20)}, nil), []string{"large"}, nil, ""},
		"many files that are ignored": {func(t *testing.T, _, own string) {
			for i := range 1000 {
				must(t, os.WriteFile(filepath.Join(own, strconv.Itoa(i)+".log"), nil, 0o600))
			}
		}, nil, nil, ""},
		"files that nobody may read": {func(t *testing.T, _, own string) {
			must(t, os.Chmod(filepath.Join(own, "new.txt"), 0))
			write(t, own, files{"ro/a.txt": "a"})
			must(t, os.Chmod(filepath.Join(own, "ro"), 0o500))
		}, []string{"ro/a.txt"}, files{"ro/a.txt": "a"}, ""},
		"pipes and sockets": {func(t *testing.T, _, own string) {
			must(t, os.Remove(filepath.Join(own, "new.txt")))
			if out, err := exec.Command("mkfifo", own+"/new.txt", own+"/sub/pipe").CombinedOutput(); err != nil {
				t.Skipf("%s", out)
			}
		}, []string{"new.txt"}, files{"new.txt": ""}, ""},
		"a folder becomes a link out": {func(t *testing.T, _, own string) {
			must(t, os.RemoveAll(filepath.Join(own, "sub")))
			link(t, own, "/etc", "sub")
		}, []string{"sub", "sub/heron.txt"}, nil, ""},
		"names that speak to a terminal": {both(files{"\x1b[31mred\n.txt": "r"}, nil), []string{"\x1b[31mred\n.txt"}, nil, ""},
		"all is gone":                    {func(t *testing.T, _, own string) { must(t, os.RemoveAll(own)) }, nil, nil, "gone"},
		"the caller's folder is gone": {func(t *testing.T, dir, own string) {
			write(t, own, files{"a.txt": "b"})
			must(t, os.RemoveAll(dir))
		}, nil, nil, "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repo(t)
			write(t, dir, files{"a.txt": "a\n", "aa.txt": "a\n", "long.txt": long})
			run(t, dir, "add", "-A")
			f := make1(t, dir, Options{Edit: true})
			run(t, dir, "reset", "-q")
			tt.do(t, dir, f.Cwd)
			w, err := f.Finish(t.Context(), "m")
			if tt.fails == "gone" {
				if err == nil {
					t.Errorf("%+v", w)
				}
				must(t, Discard(t.Context(), filepath.Dir(f.root), f.root))
				return
			}
			must(t, err)
			if diff := cmp.Diff(tt.paths, w.Paths, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(tt.paths) == 0 {
				return
			}
			r, err := Open(t.Context(), filepath.Dir(f.root), f.root)
			must(t, err)
			if text, err := r.Stat(t.Context()); err != nil || !strings.Contains(text, " changed, ") ||
				strings.Contains(text, "\x1b") {
				t.Errorf("%v\n%s", err, text)
			}
			var patch bytes.Buffer
			if err := r.Diff(t.Context(), &patch); err != nil || !strings.HasPrefix(patch.String(), "diff --git") {
				t.Errorf("%v\n%.300s", err, &patch)
			}
			before := state(t, dir)
			_, _, err = r.Apply(t.Context(), ApplyOptions{Steering: true})
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) || r.Applied(t.Context()) {
					t.Errorf("%v, want %q", err, tt.fails)
				}
				if diff := cmp.Diff(before, state(t, dir)); diff != "" {
					t.Errorf("something is half done (-before +after):\n%s", diff)
				}
				return
			}
			must(t, err)
			for name, want := range tt.want {
				if got := read(dir, name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			after := state(t, dir)
			if wrote, _, err := r.Apply(t.Context(), ApplyOptions{Steering: true}); err != nil || len(wrote) > 0 || state(t, dir) != after || !r.Applied(t.Context()) {
				t.Errorf("again: %v, %v; the first wrote %v", wrote, err, w.Paths)
			}
		})
	}
}
