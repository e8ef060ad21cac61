//go:build unix

package upstream

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// npx is looked for, and looks, outside of the project; the adapter starts in the project, with its arguments, and
// finds nothing of npx's own call in its environment.
func TestFetchOutside(t *testing.T) {
	project, bin := t.TempDir(), t.TempDir()
	project = filepath.Join(project, `it's "a" $HOME`)
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(project)
	tool(t, bin, "npx", `echo "${0##*/} in $(pwd -P): $*"; export npm_config_package=theirs
PATH=`+bin+`:$PATH; exec $npm_config_script_shell -c "$npm_config_call"`)
	if err := os.Symlink("npx", filepath.Join(bin, "npm")); err != nil {
		t.Fatal(err)
	}
	tool(t, bin, "codex-acp", `echo "adapter in $(pwd -P): $*"; env | grep -c -e npm_config_call -e npm_config_package`)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for _, test := range []struct{ name, command, want string }{
		{"by name", "", "npx in /: -y --package=@agentclientprotocol/codex-acp@latest\nadapter in PROJECT: \n0\n"},
		{"another version, an argument", "npx -y @agentclientprotocol/codex-acp@2.6.0 -c model=x",
			"npx in /: -y --package=@agentclientprotocol/codex-acp@2.6.0\nadapter in PROJECT: -c model=x\n0\n"},
		{"--yes", "npx --yes -q @agentclientprotocol/codex-acp --yes",
			"npx in /: -y -q --package=@agentclientprotocol/codex-acp\nadapter in PROJECT: --yes\n0\n"},
		{"no -y, a mark", "npx -- @agentclientprotocol/codex-acp -y",
			"npx in /: -y --package=@agentclientprotocol/codex-acp\nadapter in PROJECT: -y\n0\n"},
		{"a package and its program", "npx -p one --package two --loglevel=error codex-acp x",
			"npx in /: -y --loglevel=error --package=one --package=two\nadapter in PROJECT: x\n0\n"},
		{"npm exec", "npm exec -y @agentclientprotocol/codex-acp -- -c x",
			""},
		{"npm exec with a mark", "npm exec -- @agentclientprotocol/codex-acp -c x",
			"npm in /: exec -y --package=@agentclientprotocol/codex-acp\nadapter in PROJECT: -c x\n0\n"},
		{"npm x", "npm x --package=one -- codex-acp",
			"npm in /: x -y --package=one\nadapter in PROJECT: \n0\n"},
		{"npm's own -p", "npm exec -p one -- codex-acp", ""},
		{"another package", "npx -y somebody-elses", ""},
		{"a package of the folder", "npx --package=./one codex-acp", ""},
		{"an option that may have a value", "npx --userconfig x @agentclientprotocol/codex-acp", ""},
		{"no package", "npx -y", ""},
		{"another command of npm", "npm run @agentclientprotocol/codex-acp", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.command == "" {
				if err := os.Rename(filepath.Join(bin, "codex-acp"), filepath.Join(bin, "away")); err != nil {
					t.Fatal(err)
				}
			}
			p, _ := Lookup("codex")
			o := Options{Command: strings.Fields(test.command)}
			err := p.Prepare(t.Context(), &o)
			if test.command == "" {
				if err := os.Rename(filepath.Join(bin, "away"), filepath.Join(bin, "codex-acp")); err != nil {
					t.Fatal(err)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if test.want == "" {
				if o.Dir != "" || strings.Join(o.Command, " ") != test.command {
					t.Errorf("changed: %q in %q", o.Command, o.Dir)
				}
				return
			}
			process, err := Start(o)
			if err != nil {
				t.Fatal(err)
			}
			defer process.Wait()
			defer process.Hangup()
			out, err := io.ReadAll(process.Stdout)
			if want := strings.ReplaceAll(test.want, "PROJECT", project); err != nil || string(out) != want {
				t.Errorf("got %q, %v\nwant %q", out, err, want)
			}
		})
	}
}

// A person learns which file may choose what starts, unless it is kept out.
func TestSteered(t *testing.T) {
	home, bin := t.TempDir(), t.TempDir()
	project := filepath.Join(home, "project", "inside")
	for _, name := range []string{"npx", "npm", "bunx", "pnpm", "yarn"} {
		tool(t, bin, name, "")
	}
	if err := os.MkdirAll(project, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(project)
	t.Setenv("PATH", bin)
	t.Setenv("HOME", home)
	for _, test := range []struct{ file, command, want string }{
		{"project/.npmrc", "npx -y somebody-elses", "project/.npmrc"},
		{"project/inside/package.json", "npm exec somebody-elses", "project/inside/package.json"},
		{"project/node_modules/.bin", "bunx codex-acp", "project/node_modules/.bin"},
		{"project/pnpm-workspace.yaml", "pnpm dlx codex-acp", "project/pnpm-workspace.yaml"},
		{"project/.yarnrc.yml", "yarn dlx codex-acp", "project/.yarnrc.yml"},
		{"project/.npmrc", "npx -y @agentclientprotocol/codex-acp", ""},
		{"project/.npmrc", "npm run agent", ""},
		{"project/.yarnrc.yml", "npx -y somebody-elses", ""},
		{".npmrc", "npx -y somebody-elses", ""},
	} {
		path := filepath.Join(home, test.file)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		p, _ := Lookup("codex")
		o := Options{Command: strings.Fields(test.command)}
		if err := p.Prepare(t.Context(), &o); err != nil {
			t.Fatal(err)
		}
		got := o.Steered()
		if want := filepath.Join(home, test.want) + " may choose"; (got != "") != (test.want != "") ||
			got != "" && !strings.HasPrefix(got, want) {
			t.Errorf("%s beside %s: %q", test.command, test.file, got)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}

// An adapter that npx has fetched is started without it, and with nothing of it in its environment.
func TestFetch(t *testing.T) {
	const found = `exec $npm_config_script_shell -c "$npm_config_call"`
	for _, test := range []struct{ npx, fails string }{
		{found, ""}, {"echo no path", `"no path" is no path`}, {"echo offline >&2; exit 3", "exit status 3: offline"},
	} {
		bin := t.TempDir()
		tool(t, bin, "npx", test.npx)
		t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
		p, _ := Lookup("codex")
		o := Options{Command: []string{"npx", "-y", "@agentclientprotocol/codex-acp", "-c", "model=x"}}
		if err := o.Fetch(t.Context()); err != nil || len(o.Command) != 5 {
			t.Errorf("there is nothing to fetch: %v, %q", err, o.Command)
		}
		if err := p.Prepare(t.Context(), &o); err != nil {
			t.Fatal(err)
		}
		tool(t, bin, "codex-acp", "")
		err := o.Fetch(t.Context())
		if test.fails != "" {
			if !errors.Is(err, ErrNotStarted) || !strings.Contains(err.Error(), test.fails) {
				t.Errorf("%s: %v", test.npx, err)
			}
			continue
		}
		want := []string{filepath.Join(bin, "codex-acp"), "-c", "model=x"}
		if err != nil || !slices.Equal(o.Command, want) || o.Dir != "" || strings.Contains(strings.Join(o.Env, " "), "npm_config_call=") {
			t.Errorf("%v: %q in %q, %q", err, o.Command, o.Dir, o.Env)
		}
	}
}

func TestCallOnWindows(t *testing.T) {
	got := callOnWindows(`C:\Users\An Na`, []string{"codex-acp", "x y"})
	want := `set "npm_config_call=" & set "npm_config_script_shell=" & set "npm_config_package=" & ` +
		`cd /d "C:\Users\An Na" && "codex-acp" "x y"`
	if got != want {
		t.Errorf("got %s", got)
	}
}
