package delegation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
)

// A command looks at what a child has made: by itself when the child has ended, and again when it is asked for.
func TestChecked(t *testing.T) {
	s := newStage(t)
	s.Unbounded = true
	t.Setenv("ECHOAGENT_WRITE", "new.txt")
	s.CheckBy = "cat new.txt; rm new.txt; echo password=hunter2hunter2 >&2; exit 3"
	d := s.run(t.Context(), Request{Agent: "codex", Task: "Look.", Scope: "heron.txt", Kept: "the release", Mode: Edit})
	if c := d.Row().Check; c == nil || c.Exit != 3 || !strings.Contains(c.Last, "Look.") || strings.Contains(c.Last, "hunter2") ||
		c.Seconds <= 0 || !strings.HasPrefix(c.String(), "cat new.txt; ") {
		t.Fatalf("%+v of %+v", c, d)
	}
	service := &Service{Ledger: s.Ledger}
	apply := func() error {
		d, err := s.Get(t.Context(), d.ID)
		if err == nil {
			_, _, err = service.Apply(t.Context(), d, true, worktree.ApplyOptions{})
		}
		return err
	}
	if err := apply(); err == nil || !strings.Contains(err.Error(), "its check failed (cat") {
		t.Errorf("applied after a check that failed: %v", err)
	}
	for command, want := range map[string]Check{"seq 1 99 && test -s new.txt": {Exit: 0, Last: "80\n81\n"}, "kill -9 $$": {Exit: 137}} {
		c, err := s.Check(t.Context(), d, command)
		if err != nil || c.Exit != want.Exit || !strings.HasPrefix(c.Last, want.Last) {
			t.Errorf("%s: %+v, %v", command, c, err)
		}
		now, err := s.Get(t.Context(), d.ID)
		if err != nil || now.Check == nil || *now.Check != c || now.Answer != d.Answer {
			t.Errorf("%s: stored %+v, %v", command, now, err)
		}
	}
	if _, err := s.Check(t.Context(), d, "true"); err != nil {
		t.Error(err)
	}
	if err := apply(); err != nil {
		t.Errorf("applied: %v", err)
	}
	if text, _ := os.ReadFile(filepath.Join(s.dir, "new.txt")); !strings.Contains(string(text), "Look.") {
		t.Errorf("applied: %q", text)
	}
	bare := Delegation{ID: "01D", State: Done}
	if err := bare.mustPass(); err == nil || !strings.Contains(err.Error(), "delegations check 01D -- COMMAND") {
		t.Errorf("without a check: %v", err)
	}
	bare.Folder = d.Folder
	for want, try := range map[string]func() error{
		"its tree is gone":       func() error { _, err := s.Check(t.Context(), bare, "true"); return err },
		"still running":          func() error { _, err := s.Check(t.Context(), Delegation{State: Running}, "true"); return err },
		"delegation_unbounded: ": func() error { _, err := (&run{}).check(t.Context(), "true", s.dir); return err },
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
