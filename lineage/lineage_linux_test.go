package lineage

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"testing"
)

// A process is seen with its ancestors, when it was started, what it runs, and whether it is confined.
func TestOf(t *testing.T) {
	before := Now()
	for _, tt := range []struct {
		name     string
		command  []string
		confined bool
	}{
		{"a plain one", []string{"sleep", "60"}, false},
		{"one that can gain no privileges", []string{"setpriv", "--no-new-privs", "sleep", "60"}, true},
	} {
		cmd := exec.Command(tt.command[0], tt.command[1:]...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var line []Process
		var err error
		for len(line) == 0 || err == nil && line[0].Name != "sleep" { // until it has become that
			line, err = Of(cmd.Process.Pid)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if err != nil || len(line) < 2 {
			t.Fatalf("%s: %+v, %v", tt.name, line, err)
		}
		if p := line[0]; p.Confined != tt.confined || p.Name != "sleep" || p.Started+Moment(tick.Microseconds()) < before || p.Started > Now() {
			t.Errorf("%s: %+v, started between %d and %d", tt.name, p, before, Now())
		}
		if p := line[1]; p.ID != os.Getpid() || p.Parent != os.Getppid() || !p.RunsOf(os.Args[0]) {
			t.Errorf("%s: its parent: %+v", tt.name, p)
		}
		if _, err := Of(cmd.Process.Pid); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s, which has ended: %v", tt.name, err)
		}
	}
}

func TestRunsOf(t *testing.T) {
	const program = "/opt/signet-acp-proxy"
	for _, tt := range []struct {
		p    Process
		want bool
	}{
		{Process{Program: "/usr/bin/signet-acp-proxy", Name: "x"}, true},
		{Process{Program: "/opt/signet-acp-proxy (deleted)"}, true},
		{Process{Program: "/usr/bin/node", Name: "signet-acp-prox"}, false},
		{Process{Name: "signet-acp-prox"}, true},
		{Process{Name: "signet-acp-proxy"}, true},
		{Process{Name: "signet"}, false},
		{Process{}, false},
	} {
		if got := tt.p.RunsOf(program); got != tt.want {
			t.Errorf("%+v: %v", tt.p, got)
		}
	}
}
