package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Signet's own settings say which identity files a session begins with.
func TestIdentityFiles(t *testing.T) {
	for yaml, want := range map[string][]string{
		"acp: {}\n":                       nil,
		"identity: {mode: off}\n":         {},
		"identity: {mode: passthrough}\n": {},
		"identity: {mode: managed}\n":     nil,
		"identity: {mode: managed, startup: {load: [SOUL.md, notes.md]}}\n": {"SOUL.md", "notes.md"},
		"identity: {startup: {load: []}}\n":                                 {},
		"identity: {mode: off, startup: {load: [SOUL.md]}}\n":               {},
		"identity: Alto\n": nil,
		"identity: {startup: {load: SOUL.md}}\nacp: {memory: embedded}\n":       nil,
		"identity: {name: Alto, startup: {load: [SOUL.md], preset: minimal}}\n": {"SOUL.md"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(Flags{SignetPath: dir})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, c.IdentityFiles); diff != "" {
			t.Errorf("%s(-want +got):\n%s", yaml, diff)
		}
	}
}
