package memory

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// tree makes folders and files ("dir/" or "file") under a temp folder and returns its real path.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		p := filepath.Join(root, name)
		if name[len(name)-1] == '/' {
			err = os.MkdirAll(p, 0o700)
		} else if err = os.MkdirAll(filepath.Dir(p), 0o700); err == nil {
			err = os.WriteFile(p, nil, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func setHome(t *testing.T, dir string) {
	t.Setenv("HOME", dir)
	t.Setenv("USERPROFILE", dir)
}

func TestProject(t *testing.T) {
	root := tree(t, "home/.git/", "home/src/acme/.git/", "home/src/acme/pkg/deep/", "home/src/acme/sub/.git",
		"home/notes/", "tmp/.git/", "tmp/work/", "plain/dir/")
	setHome(t, filepath.Join(root, "home"))
	t.Setenv("TMPDIR", filepath.Join(root, "tmp"))
	t.Setenv("TMP", filepath.Join(root, "tmp"))
	if err := os.Symlink(filepath.Join(root, "home/src/acme"), filepath.Join(root, "link")); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct{ cwd, want string }{
		{"home/src/acme", "home/src/acme"},
		{"home/src/acme/pkg/deep", "home/src/acme"},
		{"home/src/acme/pkg/gone/long/ago", "home/src/acme"},
		{"home/src/acme/sub", "home/src/acme/sub"}, // a work tree or submodule: .git is a file
		{"link/pkg", "home/src/acme"},
		{"home/notes", ""}, // a home kept in git
		{"home", ""},
		{"tmp/work", ""}, // a temp folder that is a root itself
		{"plain/dir", ""},
	} {
		want := c.want
		if want != "" {
			want = filepath.Join(root, want)
		}
		if got := Project(filepath.Join(root, c.cwd)); got != want {
			t.Errorf("Project(%s) = %q, want %q", c.cwd, got, want)
		}
	}
	for folder, want := range map[string]string{
		filepath.Join(root, "home/src/acme/.git/worktrees/w"): "home/src/acme",
		"../../home/src/acme/.git/worktrees/w":                "home/src/acme",
		filepath.Join(root, "gone/.git/worktrees/w"):          "plain/w",
		filepath.Join(root, "home/src/acme/.git/modules/w"):   "plain/w",
		filepath.Join(root, "bare.git/worktrees/w"):           "plain/w",
	} {
		write(t, filepath.Join(root, "plain/w/.git"), "gitdir: "+folder+"\n")
		if got := Project(filepath.Join(root, "plain/w/deep")); got != filepath.Join(root, want) {
			t.Errorf("the project of a worktree of %s is %q", folder, got)
		}
	}
	write(t, filepath.Join(root, "plain/w/.git"), "gitdir: "+filepath.Join(root, "home/src/acme/.git/worktrees/w"))
	write(t, filepath.Join(root, "home/src/acme/.signet-ignore"), "")
	if !Excluded(filepath.Join(root, "plain/w"), nil) {
		t.Error("a worktree stays though its repository has opted out")
	}
	if runtime.GOOS == "windows" { // the paths below are relative there
		return
	}
	setHome(t, "/nowhere/home") // tree is in a temp folder, where there is no project without a repository
	t.Setenv("TMPDIR", "/nowhere/tmp")
	for cwd, want := range map[string]string{
		"": "", "/": "", "relative/path": "", ".": "", "/nowhere/home": "", "/nowhere/tmp": "", "/nowhere/tmp/work": "",
		"/nowhere": "/nowhere", "/nowhere/home/notes": "/nowhere/home/notes", "/nowhere/at/all/": "/nowhere/at/all",
	} {
		if got := Project(cwd); got != want {
			t.Errorf("Project(%q) = %q, want %q", cwd, got, want)
		}
	}
}

func TestExcluded(t *testing.T) {
	root := tree(t, "home/src/acme/.git/", "home/src/acme/pkg/.signet-ignore", "home/src/acme/pkg/deep/",
		"home/src/acme/other/", "home/src/.signet-ignore",
		"home/loose/.signet-ignore", "home/loose/dir/", "home/free/dir/", "home/src/quiet/.git/",
		"home/src/quiet/.signet-ignore", "home/src/quiet/a/b/",
		"home/quiet/.git/", "home/quiet/.signet-ignore", "home/quiet/vendor/theirs/.git", "home/quiet/vendor/theirs/x/",
		".signet-ignore")
	home := filepath.Join(root, "home")
	setHome(t, home)
	for _, c := range []struct {
		cwd     string
		exclude []string
		want    bool
	}{
		{"home/src/acme/pkg/deep", nil, true},
		{"home/src/acme/other", nil, true}, // the marker is above the repository
		{"home/quiet/vendor/theirs/x", nil, true},
		{"home/src/quiet/a/b", nil, true},
		{"home/loose/dir", nil, true}, // no project: up to home
		{"home/free/dir", nil, false},
		{"home/free/dir", []string{"~/free"}, true},
		{"home/free/dir", []string{"~/free/*"}, true},
		{"home/free/dir", []string{"~/fr?e/**"}, true},
		{"home/free/dir", []string{"~/**/dir"}, true},
		{"home/free/dir", []string{"free"}, true},
		{"home/free/dir", []string{"free/dir"}, true},
		{"home/free/dir", []string{"home/*/dir"}, true},
		{"home/free/dir", []string{home + "/free/"}, true},
		{"home/free/dir", []string{"/free", "fre", "dir/free", "", "~/other", "[", "~free"}, false},
		{"home/free", []string{"~/free/dir"}, false},
	} {
		if got := Excluded(filepath.Join(root, c.cwd), c.exclude); got != c.want {
			t.Errorf("Excluded(%s, %q) = %v", c.cwd, c.exclude, got)
		}
	}
	if Excluded("", nil) || Excluded("relative", []string{"relative"}) {
		t.Error("a path that is not absolute is opted out")
	}
}

func TestExcludedThroughSymlink(t *testing.T) {
	root := tree(t, "real/client/dir/")
	if err := os.Symlink(filepath.Join(root, "real/client"), filepath.Join(root, "work")); err != nil {
		t.Skip(err)
	}
	for _, glob := range []string{"client", "work"} {
		if !Excluded(filepath.Join(root, "work/dir"), []string{glob}) {
			t.Errorf("%q does not match by either name", glob)
		}
	}
}

// A path that is too long to name anything is no project, and finding that out takes no time.
func TestProjectOfLongPath(t *testing.T) {
	long := strings.Repeat("/a", 1<<20)
	if got := Project(long); got != "" {
		t.Errorf("the project is %d bytes", len(got))
	}
	if Excluded(long, nil) {
		t.Error("it is opted out")
	}
}

func TestHome(t *testing.T) {
	missing := errors.New("not set")
	for _, c := range []struct {
		name, environment, database string
		found                       bool // in the database
		want                        string
	}{
		{"the environment's", "/e", "/d", true, "/e"},
		{"the database's", "", "/d", true, "/d"},
		{"a user without one", "", "", true, ""},
		{"a user that the system does not know", "", "", false, ""},
	} {
		got, err := homeOf(func() (string, error) {
			if c.environment == "" {
				return "", missing
			}
			return c.environment, nil
		}, func() (*user.User, error) {
			if !c.found {
				return nil, user.UnknownUserIdError(1)
			}
			return &user.User{HomeDir: c.database}, nil
		})
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A project's repository is named without who calls it, and a folder of this machine is none.
func TestRepository(t *testing.T) {
	for address, want := range map[string]string{
		"git@host.example:acme/heron.git": "host.example/acme/heron", "https://token@host.example/acme/heron": "host.example/acme/heron",
		"https://me:secret@host.example:8443/a/b/c.git/": "host.example:8443/a/b/c", "ssh://git@host.example/heron.git": "host.example/heron",
		"/srv/git/heron.git": "", "../heron": "", "file:///srv/heron": "", "C:/heron": "", "heron": "",
	} {
		dir := t.TempDir()
		write := func(path, text string) {
			t.Helper()
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(filepath.Join(dir, "top", ".git", "config"), "[core]\n\tbare = false\n[remote \"fork\"]\n\turl = x@y.example:z\n"+
			"[remote \"origin\"]\n\tfetch = +refs/*\n\turl = "+address+"\n[branch \"main\"]\n\turl = no\n")
		write(filepath.Join(dir, "sub", ".git"), "gitdir: ../top/.git\n")
		for _, project := range []string{"top", "sub"} {
			if got := Repository(filepath.Join(dir, project)); got != want {
				t.Errorf("%s, %s: %q, want %q", address, project, got, want)
			}
		}
	}
	if got := Repository(t.TempDir()) + Repository(""); got != "" {
		t.Errorf("no repository is %q", got)
	}
}
