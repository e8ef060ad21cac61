package install

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
)

// Of delegations nothing stays, in our folder or in the caller's repository, and what was not applied is named first.
func TestUninstallDelegations(t *testing.T) {
	home, caller := t.TempDir(), t.TempDir()
	for _, name := range []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "APPDATA", "LOCALAPPDATA"} {
		t.Setenv(name, home)
	}
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", caller, "-c", "user.name=t", "-c", "user.email=t@localhost"},
			args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "one")
	c, err := config.Load(config.Flags{SignetPath: filepath.Join(home, ".agents"), Memory: "embedded"})
	if err != nil {
		t.Fatal(err)
	}
	folders := runtime.DelegationFolders(c)
	for id, write := range map[string]bool{"CHANGED": true, "EMPTY": false} {
		f, err := worktree.Make(t.Context(), caller, filepath.Join(folders, id), worktree.Options{Edit: true})
		if err != nil {
			t.Fatal(err)
		}
		if f.Keep = true; write {
			err = os.WriteFile(filepath.Join(f.Cwd, "heron"), nil, 0o600)
		}
		if _, failed := f.Finish(t.Context(), "m"); err != nil || failed != nil {
			t.Fatal(err, failed)
		}
	}
	if err := os.Mkdir(filepath.Join(folders, "KILLED"), 0o700); err != nil { // before anything was in it
		t.Fatal(err)
	}
	if refs := git("for-each-ref"); strings.Count(refs, "refs/signet/") != 2 {
		t.Fatalf("refs: %s", refs)
	}
	var said bytes.Buffer
	if err := (Steps{Config: c, Std: term.Streams{Out: &said, Err: &said}, Yes: true}).Uninstall(); err != nil {
		t.Fatal(err)
	}
	if strings.Count(said.String(), "not applied: ") != 1 || !strings.Contains(said.String(), "CHANGED") {
		t.Errorf("it says:\n%s", &said)
	}
	if refs := git("for-each-ref"); strings.Contains(refs, "refs/signet/") {
		t.Errorf("refs are left: %s", refs)
	}
	if _, err := os.Stat(filepath.Join(home, ".agents", "acp")); !os.IsNotExist(err) {
		t.Errorf("our folder: %v", err)
	}
}
