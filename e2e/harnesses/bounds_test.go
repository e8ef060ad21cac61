//go:build harnesses

package harnesses

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
)

// whatItNeeds is how a person has a harness asked who uses no provider that it knows: its settings are not read where
// its rights are bounded, so what they say is said in its command line, or in variables that it may keep.
func (s stage) whatItNeeds() (command, variables []string) {
	command = s.command
	switch s.name {
	case "codex":
		settings := fmt.Sprintf(`{"model":"fake-model","model_provider":"fake","model_providers":{"fake":{"name":"fake",`+
			`"base_url":"%s/v1","env_key":"FAKE_KEY","wire_api":"responses"}}}`, s.model.URL)
		return slices.Concat([]string{"env", "CODEX_CONFIG=" + settings, "MODEL_PROVIDER=fake"}, command),
			[]string{"FAKE_KEY"}
	case "opencode":
		return slices.Concat([]string{"env", "OPENCODE_CONFIG=" + filepath.Join(s.Home, "xdg/config/opencode/opencode.json")},
			command), nil
	}
	return command, nil
}

// Each harness is asked to read and to edit, and told by its model to write in its folder and outside of it: it does
// its work, and of the person's files none is different afterwards.
func TestBounds(t *testing.T) {
	for _, h := range harnesses {
		for _, mode := range []string{"read", "edit"} {
			t.Run(h.name+" "+mode, func(t *testing.T) { bounded(t, h, mode) })
		}
	}
}

func bounded(t *testing.T, h harness, mode string) {
	var work string // the caller's folder
	box := h.stage(t, func(r fakemodel.Request) fakemodel.Reply { return writes(r, work) })
	work = box.Work
	command, variables := box.whatItNeeds()
	box.delegates(h.name, command, variables)
	before := files(t, box.Dir)
	result, err := box.Run(t.Context(), nil, box.proxy, "delegate", "--to", h.name, "--mode", mode, "--scope", "heron.txt",
		"--keep", "the release", "--timeout", "90s", "Look after the heron feathers in heron.txt.")
	if err != nil || result.Code != 0 || !strings.Contains(result.Stdout, verdict) {
		t.Errorf("%v, exit %d\n%s%s", err, result.Code, result.Stdout, result.Stderr)
	}
	box.alone()
	if after := files(t, box.Dir); !slices.Equal(before, after) {
		t.Errorf("written outside:\n%s", strings.Join(slices.DeleteFunc(after, func(one string) bool {
			return slices.Contains(before, one)
		}), "\n"))
	}
	row := box.ran(box.proxy, "delegations", "--json")
	if mode == "edit" && !strings.Contains(row, "white.txt") {
		t.Error("it wrote nothing in its folder")
	}
	if t.Failed() {
		t.Log(row)
		for _, r := range box.model.Requests() {
			if r.Result {
				t.Logf("after its tool: %s", r.Body)
			}
		}
	}
	box.check("in bounds, "+mode, !t.Failed(), "")
}

// files lists what lies in a sandbox, but for what our own programs write.
func files(t *testing.T, dir string) (all []string) {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (strings.HasSuffix(path, ".agents/acp") || strings.HasSuffix(path, ".git")) {
			return fs.SkipDir
		}
		info, err := e.Info()
		if err == nil && !e.IsDir() {
			all = append(all, fmt.Sprint(path, info.Size(), info.ModTime()))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return all
}

// writes is the model of a child: it writes in its folder by a tool, outside of it by a shell, and then has its verdict.
func writes(r fakemodel.Request, work string) fakemodel.Reply {
	said := strings.Join(r.User, "\n")
	shell := ""
	for _, tool := range r.Tools {
		if slices.Contains([]string{"Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell"}, tool) {
			shell = tool
		}
	}
	if !strings.Contains(said, toldSo) || shell == "" || r.Result {
		return fakemodel.Reply{Text: verdict}
	}
	command := fmt.Sprintf("printf 'white\\n' > white.txt; printf x > %s/out.txt; printf x > $HOME/in.txt; "+
		"ls %s; true", work, filepath.Dir(work))
	arguments := map[string]any{"command": command, "description": "Run it"}
	switch shell {
	case "shell":
		arguments["command"] = []string{"bash", "-lc", command}
	case "exec_command":
		arguments = map[string]any{"cmd": command}
	}
	return fakemodel.Reply{Tool: shell, Args: arguments}
}
