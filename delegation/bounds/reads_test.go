//go:build unix

package bounds

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// files makes files in a new folder, with symbolic links followed, and returns the folder.
func files(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What a variable is, and whether a child has it.
func TestKeep(t *testing.T) {
	for v, want := range map[string]bool{
		"PATH=/bin": true, "LC_TIME=C": true, "HTTPS_PROXY=x": true, "SSL_CERT_FILE=/c": true, "OWN_KEY=x": true,
		"OWN_OTHER=x": true, "CHOSEN=x": true, "SIGNET_ACP_DELEGATION=x": true,
		"SIGNET_ACP_DELEGATION_ID=x": true, "SIGNET_ACP_DELEGATION_DEPTH=x": true, "SIGNET_ACP_DELEGATION_COPY=x": false,
		"OPENAI_API_KEY=x": false, "SSH_AUTH_SOCK=x": false, "DBUS_SESSION_BUS_ADDRESS=x": false,
		"XDG_RUNTIME_DIR=x": false, "DOCKER_HOST=x": false, "SIGNET_TOKEN=x": false, "SIGNET_PATH=x": false,
		"AWS_SECRET_ACCESS_KEY=x": false, "CHOSEN_NOT=x": false, "LD_PRELOAD=x": false, "LC=x": false,
	} {
		if got := len(keep([]string{v}, []string{"OWN_*", "CHOSEN"})) == 1; got != want {
			t.Errorf("%s: %v", v, got)
		}
	}
}

// A folder on the list that holds something closed is given by what else is in it.
func TestWithout(t *testing.T) {
	dir := files(t, "a/one", "a/keys/k", "b/two", "c")
	at := func(names ...string) (all []string) {
		for _, name := range names {
			all = append(all, filepath.Join(dir, name))
		}
		return all
	}
	for _, tt := range []struct{ list, closed, want []string }{
		{at("a", "b"), at("c"), at("a", "b")},
		{at("a", "b"), at("a/keys"), at("a/one", "b")},
		{at("a"), at("a/keys/k"), at("a/one")},
		{at("a"), at("a"), nil},
		{at("."), at("a/keys", "b"), at("a/one", "c")},
	} {
		got, _ := without(tt.list, tt.closed)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%v without %v (-want +got):\n%s", tt.list, tt.closed, diff)
		}
	}
}

// The files that a command line names, with their packages; never a folder that holds what is closed.
func TestFilesOf(t *testing.T) {
	dir := files(t, "lib/node_modules/x/dist/i.js", "lib/node_modules/y/i.js", "venv/pyvenv.cfg", "venv/bin/agent",
		"home/agent", "home/.ssh/id", "settings.json", "a=b")
	if got, want := filesOf([]string{dir + "/a=b"}, nil), []string{dir + "/a=b", dir + "/a=b"}; !slices.Equal(got, want) {
		t.Errorf("a name with =: %q", got)
	}
	closed := []string{filepath.Join(dir, "home/.ssh"), filepath.Join(dir, "home")}
	for word, want := range map[string]string{
		"lib/node_modules/x/dist/i.js": "lib/node_modules", "venv/bin/agent": "venv", "home/agent": "home/agent",
		"NAME=settings.json": "settings.json", "home": "", "": "", "missing": "",
	} {
		name, path, named := strings.Cut(word, "=")
		if !named {
			name, path = "", word
		} else {
			name += "="
		}
		got := filesOf([]string{"run", name + filepath.Join(dir, path)}, closed)
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, filepath.Join(dir, want)) {
			t.Errorf("%s: %v", word, got)
		}
	}
}

// A file's package is the folder that says so, not too far above, and holds nothing that is closed.
func TestPackageOf(t *testing.T) {
	dir := files(t, "pkg/package.json", "pkg/1/2/3/i.js", "pkg/1/2/3/4/i.js", "py/pyproject.toml", "py/a.py", "shut/package.json",
		"shut/i.js", "shut/key", "git/package.json", "git/.git/HEAD", "git/tool/i.js", "node_modules/x/i.js", "node_modules/key", "shut/sub/package.json", "shut/sub/i.js")
	closed := []string{filepath.Join(dir, "shut/key"), filepath.Join(dir, "node_modules/key")}
	for file, want := range map[string]string{"pkg/1/2/3/i.js": "pkg", "pkg/1/2/3/4/i.js": "pkg/1/2/3/4/i.js", "py/a.py": "py",
		"shut/i.js": "shut/i.js", "git/tool/i.js": "git/tool/i.js", "shut/sub/i.js": "shut/sub", "node_modules/x/i.js": "node_modules/x/i.js"} {
		if got := packageOf(filepath.Join(dir, file), closed); got != filepath.Join(dir, want) {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

// The last of several entries counts; of files only those that are named by a whole path.
func TestNamed(t *testing.T) {
	env := []string{"A=/1", "A=/2", "AB=/3", "C=rel", "D="}
	if diff := cmp.Diff([]string{"/2"}, named(env, []string{"A", "C", "D", "E"})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A place gives a harness a state of its own, with a copy of its login and nothing else of the user's.
func TestPrepare(t *testing.T) {
	dir := files(t, "home/.codex/auth.json", "home/.codex/config.toml", "home/.claude/.credentials.json",
		"home/.nvm/bin/node", "root/tree/a", "root/own/x", "signet/agent.yaml", "ca.pem", "mine.json")
	home := filepath.Join(dir, "home")
	env := []string{"HOME=" + home, "PATH=" + filepath.Join(home, ".nvm/bin") + ":" + home + ":/usr/bin",
		"NODE_EXTRA_CA_CERTS=" + filepath.Join(dir, "ca.pem"), "MINE=" + filepath.Join(dir, "mine.json"),
		"OPENAI_API_KEY=own", "ANTHROPIC_API_KEY=other"}
	codex, _ := upstream.Lookup("codex")
	for _, edit := range []bool{false, true} {
		p := Place{Tree: filepath.Join(dir, "root/tree"), Edit: edit, State: filepath.Join(dir, "root/own")}
		r, with, err := p.Prepare(codex, "/usr/bin/env", []string{"env"}, env, []string{"MINE"},
			[]string{filepath.Join(dir, "signet")})
		if err != nil {
			t.Fatal(err)
		}
		writes := []string{p.State}
		if edit {
			writes = append(writes, p.Tree)
		}
		if diff := cmp.Diff(writes, r.Write); diff != "" {
			t.Errorf("written (-want +got):\n%s", diff)
		}
		for _, path := range []string{"home/.nvm", "ca.pem", "mine.json", "root/tree/a"} {
			if !slices.ContainsFunc(slices.Concat(r.Read, r.Write), func(folder string) bool { return holds(folder, filepath.Join(dir, path)) }) {
				t.Errorf("%s cannot be read: %v", path, r.Read)
			}
		}
		for _, path := range []string{"home", "home/.codex/auth.json", "home/.claude/.credentials.json", "signet",
			"signet/agent.yaml"} {
			if slices.ContainsFunc(r.Read, func(folder string) bool { return holds(folder, filepath.Join(dir, path)) }) {
				t.Errorf("%s can be read: %v", path, r.Read)
			}
		}
		if value(with, "HOME") != p.State || value(with, "CODEX_HOME") != filepath.Join(p.State, ".codex") ||
			value(with, "OPENAI_API_KEY") != "own" || value(with, "ANTHROPIC_API_KEY") != "" {
			t.Errorf("environment: %q", with)
		}
		login := filepath.Join(p.State, ".codex/auth.json")
		if text, err := os.ReadFile(login); string(text) != "home/.codex/auth.json" {
			t.Errorf("the login: %q, %v", text, err)
		}
		if _, err := os.Stat(filepath.Join(p.State, ".codex/config.toml")); err == nil {
			t.Error("the user's settings are there, too")
		}
		if err := p.Forget(codex); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(login); err == nil {
			t.Error("the login stays")
		}
	}
	// a link that the child has made leads to nothing of the user's, when it goes or comes back
	p := Place{Tree: filepath.Join(dir, "root/tree"), State: filepath.Join(dir, "root/own")}
	users := filepath.Join(home, ".codex")
	if err := os.RemoveAll(filepath.Join(p.State, ".codex")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(users, filepath.Join(p.State, ".codex")); err != nil {
		t.Fatal(err)
	}
	gone := p.Forget(codex)
	_, _, err := p.Prepare(codex, "/usr/bin/env", []string{"env"}, []string{"CODEX_HOME=" + dir, "HOME=" + home}, nil, nil)
	text, _ := os.ReadFile(filepath.Join(users, "auth.json"))
	if gone == nil || err == nil || string(text) != "home/.codex/auth.json" {
		t.Errorf("through a link: %v, %v; the user's login: %q", gone, err, text)
	}
}

// Programs are looked for behind links on PATH, and what lies beside them is read where it is theirs.
func TestToolchains(t *testing.T) {
	dir := files(t, "node/bin/node", "node/lib/x", "plain/bin/z", ".local/bin/tool", ".local/lib/y", "shims/none",
		"keys/bin/k", "keys/lib/y", "project/bin/p", "project/lib/z", "project/.env", "repository/.git/HEAD",
		"repository/bin/r", "repository/lib/z")
	shims := filepath.Join(dir, "shims")
	if err := os.Symlink(filepath.Join(dir, "node/bin/node"), filepath.Join(shims, "node")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", shims)
	path := []string{shims, "bin"}
	for _, name := range []string{"plain/bin", ".local/bin", "keys/bin", "project/bin", "repository/bin"} {
		path = append(path, filepath.Join(dir, name))
	}
	env := []string{"HOME=" + dir, "PATH=" + strings.Join(path, string(filepath.ListSeparator))}
	got := toolchains(env, []string{filepath.Join(dir, "keys/bin/k"), filepath.Join(dir, "project")})
	for name, want := range map[string]bool{"shims": true, "node/bin": true, "node": true, "plain/bin": true, "plain": false,
		".local/bin": true, ".local": false, "keys/bin": false, "keys": false, "": false,
		"project/bin": false, "project": false, "repository/bin": false, "repository": false} {
		if slices.Contains(got, filepath.Join(dir, name)) != want {
			t.Errorf("%q, want %v: %q", name, want, got)
		}
	}
	if got := len(keys()) > 0; got != (os.Geteuid() == 0) {
		t.Errorf("keys are closed: %v", got)
	}
	for home, want := range map[string]bool{dir: true, "/": false, "relative": false} {
		if slices.Contains(homes([]string{"HOME=" + home}), home) != want {
			t.Errorf("a home at %s, want %v", home, want)
		}
	}
	for variable, want := range map[string]string{"": dir + "/.codex", "CODEX_HOME": "/codex", "OTHER": dir + "/.codex"} {
		home := upstream.Home{Variable: variable, Folder: ".codex"}
		if got := folderOf(home, []string{"HOME=" + dir, "CODEX_HOME=/codex", "=" + dir}); got != want {
			t.Errorf("by %q: %s", variable, got)
		}
	}
}
