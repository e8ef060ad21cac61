package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
)

// Where clients keep their agents; docs/facts/clients.md has the sources.
func TestPaths(t *testing.T) {
	on := map[string]system{
		"linux":   {"linux", "/home/ines", func(string) string { return "" }},
		"xdg":     {"linux", "/home/ines", func(name string) string { return map[string]string{"XDG_CONFIG_HOME": "/c"}[name] }},
		"darwin":  {"darwin", "/Users/ines", func(string) string { return "/ignored" }},
		"windows": {"windows", "C:/Users/ines", func(name string) string { return map[string]string{"APPDATA": "C:/App"}[name] }},
	}
	for client, want := range map[string]map[string]string{
		"acpx": {"linux": "/home/ines/.acpx/config.json", "xdg": "/home/ines/.acpx/config.json",
			"darwin": "/Users/ines/.acpx/config.json", "windows": "C:/Users/ines/.acpx/config.json"},
		"zed": {"linux": "/home/ines/.config/zed/settings.json", "xdg": "/c/zed/settings.json",
			"darwin": "/Users/ines/.config/zed/settings.json", "windows": "C:/App/Zed/settings.json"},
		"jetbrains": {"linux": "/home/ines/.jetbrains/acp.json", "xdg": "/home/ines/.jetbrains/acp.json",
			"darwin": "/Users/ines/.jetbrains/acp.json", "windows": "C:/Users/ines/.jetbrains/acp.json"},
		"vscode": {"linux": "/home/ines/.config/Code/User/settings.json", "xdg": "/c/Code/User/settings.json",
			"darwin":  "/Users/ines/Library/Application Support/Code/User/settings.json",
			"windows": "C:/App/Code/User/settings.json"},
		"acp-ui": {"linux": "/home/ines/.config/acp-ui/agents.json", "xdg": "/c/acp-ui/agents.json",
			"darwin":  "/Users/ines/Library/Application Support/acp-ui/agents.json",
			"windows": "C:/App/acp-ui/agents.json"},
	} {
		c, _ := Named(client)
		for system, path := range want {
			if got := filepath.ToSlash(c.Path(on[system])); got != path {
				t.Errorf("%s on %s: %s, not %s", client, system, got, path)
			}
		}
	}
}

// A file of a person's, with everything that one may have, comes back to the byte from every client's setup, and has a
// copy of what it was as long as it is not that.
func TestFiles(t *testing.T) {
	self, err := os.Executable()
	bin := t.TempDir()
	if err := errors.Join(err, os.Symlink(self, filepath.Join(bin, program))); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	const foreign = `"theirs": {"command": "x", "args": []}`
	bodies := map[string]string{
		"nothing else":      "{}",
		"a foreign entry":   "{\n  \"SECTION\": {\n    " + foreign + "\n  },\n  \"more\": [1]\n}\n",
		"odd indentation":   "{\n      \"more\": 1,\n \"SECTION\": {\n\t" + foreign + "\n        }}\n",
		"CRLF":              "{\r\n  \"SECTION\": {\r\n    " + foreign + "\r\n  }\r\n}\r\n",
		"a byte order mark": "\ufeff{\n  \"SECTION\": {" + foreign + "}\n}\n",
	}
	comments := map[string]string{
		"comments": "// mine\n{\n  \"SECTION\": { // these\n    " + foreign + ", /* last */\n  },\n} // end\n",
	}
	for _, name := range Names() {
		client, _ := Named(name)
		all := map[string]string{}
		for what, body := range bodies {
			all[what] = body
		}
		if client.Comments {
			for what, body := range comments {
				all[what] = body
			}
		}
		for what, body := range all {
			t.Run(name+"/"+what, func(t *testing.T) {
				home := t.TempDir()
				for _, variable := range []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "APPDATA"} {
					t.Setenv(variable, home)
				}
				conf, err := config.Load(config.Flags{})
				if err != nil {
					t.Fatal(err)
				}
				path := client.Path(here(home))
				before := strings.ReplaceAll(body, "SECTION", client.Section)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
					os.WriteFile(path, []byte(before), 0o600)); err != nil {
					t.Fatal(err)
				}
				change(t, name, func(f *File) error { _, err := f.PutIn(conf, []string{"gemini", "codex"}); return err })
				text := read(t, path)
				change(t, name, func(f *File) error { _, err := f.PutIn(conf, []string{"gemini"}); return err })
				if read(t, path) != text {
					t.Error("added again it is another")
				}
				if read(t, path+backup) != before {
					t.Error("the copy is not what it was")
				}
				checkEntry(t, client, text)
				change(t, name, func(f *File) error { _, err := f.TakeOut(nil); return err })
				if got := read(t, path); got != before {
					t.Errorf("it came back as %q, not %q", got, before)
				}
				if _, err := os.Stat(path + backup); err == nil {
					t.Error("the copy is left")
				}
			})
		}
	}
}

// checkEntry checks that an entry has what the client reads.
func checkEntry(t *testing.T, client client, text string) {
	t.Helper()
	plain, err := hujson.Standardize([]byte(strings.TrimPrefix(text, "\ufeff")))
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]json.RawMessage
	var agents map[string]struct {
		Type, Command string
		Args          []string
		Env           map[string]string
	}
	if err := errors.Join(json.Unmarshal(plain, &file), json.Unmarshal(file[client.Section], &agents)); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	ours := agents["signet-gemini"]
	if ours.Command == "" || strings.Join(ours.Args, " ") != "--agent gemini -- gemini --acp" ||
		(ours.Type == "custom") != (client.Name == "zed") || (ours.Env["PATH"] != "") != client.KeepsPATH {
		t.Errorf("the entry is %+v", ours)
	}
	if _, there := agents["theirs"]; !there && strings.Contains(text, "theirs") {
		t.Error("the foreign entry is gone")
	}
}

// A broken file is left alone, whoever's it is.
func TestBrokenFiles(t *testing.T) {
	home := t.TempDir()
	for _, variable := range []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "APPDATA"} {
		t.Setenv(variable, home)
	}
	conf, err := config.Load(config.Flags{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		client, _ := Named(name)
		path := client.Path(here(home))
		broken := "{\n  \"" + client.Section + "\": {\n    \"theirs\" 1\n"
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(broken), 0o600)); err != nil {
			t.Fatal(err)
		}
		file, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		_, in := file.PutIn(conf, []string{"gemini"})
		_, out := file.TakeOut(nil)
		for _, err := range []error{in, out} {
			if err == nil || !strings.Contains(err.Error(), path+" not changed: line 3") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if file.Changed() || read(t, path) != broken {
			t.Errorf("%s became %s", name, read(t, path))
		}
	}
}

func change(t *testing.T, client string, f func(*File) error) {
	t.Helper()
	file, err := Open(client)
	if err == nil {
		err = f(file)
	}
	if err == nil && file.Changed() {
		err = file.Save()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Zed does something for an agent that is called cursor: ours is, unless the name is taken.
func TestNames(t *testing.T) {
	self, err := os.Executable()
	bin, home := t.TempDir(), t.TempDir()
	if err := errors.Join(err, os.Symlink(self, filepath.Join(bin, program))); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	conf, err := config.Load(config.Flags{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "zed", "settings.json")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for before, want := range map[string]string{
		"{}": "cursor",
		`{"agent_servers": {"cursor": {"type": "registry"}}}`: "signet-cursor",
	} {
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, result := range []result{Added, AlreadyOurs} {
			change(t, "zed", func(f *File) error {
				done, err := f.PutIn(conf, []string{"cursor"})
				if err == nil && (done[0].Name != want || done[0].Result != result) {
					t.Errorf("%s: %+v", before, done)
				}
				return err
			})
		}
		change(t, "zed", func(f *File) error {
			taken, err := f.TakeOut([]string{"cursor"})
			if len(taken) != 1 || taken[0] != want {
				t.Errorf("%s: %v taken out", before, taken)
			}
			return err
		})
		if got := read(t, path); got != before {
			t.Errorf("%s came back as %s", before, got)
		}
	}
}

func TestLastingPATH(t *testing.T) {
	between := string(filepath.ListSeparator)
	in := strings.Join([]string{"/usr/bin", "relative", "", "/p/node_modules/.bin", "/opt/x"}, between)
	if got := lastingPATH(in); got != "/usr/bin"+between+"/opt/x" {
		t.Errorf("got %s", got)
	}
}

// Only a client whose file is known has one to open.
func TestOpenUnknown(t *testing.T) {
	for _, name := range []string{"toad", "nobody", ""} {
		if file, err := Open(name); err == nil {
			t.Errorf("%q has %s", name, file.Path)
		}
	}
}

// An entry gets the best name that is free, unless one of ours is there.
func TestPlace(t *testing.T) {
	zed, _ := Named("zed")
	file := &File{client: zed}
	for have, want := range map[string]outcome{
		"":                                     {Name: "cursor", Result: Added},
		"cursor=x":                             {Name: "signet-cursor", Result: Added},
		"signet-cursor=x":                      {Name: "cursor", Result: Added},
		"cursor=x signet-cursor=y":             {Name: "cursor", Result: AlreadyOther},
		"cursor=signet-acp-proxy":              {Name: "cursor", Result: AlreadyOurs},
		"cursor=x signet-cursor=/b/" + program: {Name: "signet-cursor", Result: AlreadyOurs},
	} {
		var entries []Entry
		for _, one := range strings.Fields(have) {
			name, command, _ := strings.Cut(one, "=")
			entries = append(entries, Entry{Name: name, Command: []string{command}})
		}
		if got := file.place(entries, "cursor"); got.Name != want.Name || got.Result != want.Result {
			t.Errorf("with %q: %+v, want %+v", have, got, want)
		}
	}
}

// A client that is set up by hand, or has a desktop's PATH, gets our path; the others our name.
func TestFull(t *testing.T) {
	self, err := os.Executable()
	bin := t.TempDir()
	path := filepath.Join(bin, program)
	if err := errors.Join(err, os.Symlink(self, path)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	for client, full := range map[string]bool{"acpx": false, "zed": true, "codecompanion": true, "toad": true} {
		text, err := Snippet(&config.Config{}, client, []string{"gemini"})
		if err != nil || strings.Contains(text, path) != full || !strings.Contains(text, program) {
			t.Errorf("%s: %s, %v", client, text, err)
		}
	}
}

func TestHarnessOf(t *testing.T) {
	for line, want := range map[string]string{
		"p": " []", "p --agent": " []", "p --agent a": "a []", "p --agent=a": "a []", "p --memory off --agent a -- b --agent c": "a [b --agent c]",
		"p -- b": " [b]", "--agent a": " []",
	} {
		name, command := HarnessOf(strings.Fields(line))
		if got := fmt.Sprint(name, " ", command); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// A client is found by its program on PATH.
func TestFound(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	t.Setenv("HOME", t.TempDir())
	if len(Found()) > 0 {
		t.Errorf("%v are found where there is nothing", Found())
	}
	self, err := os.Executable()
	if err := errors.Join(err, os.Symlink(self, filepath.Join(bin, "acpx"))); err != nil {
		t.Fatal(err)
	}
	if strings.Join(Found(), " ") != "acpx" {
		t.Errorf("%v are found", Found())
	}
}
