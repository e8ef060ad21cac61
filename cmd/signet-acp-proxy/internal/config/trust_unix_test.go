//go:build unix

package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A command is run as us only if nobody else can have written it, or the file that names it.
func TestTrustHook(t *testing.T) {
	for _, tc := range []struct {
		name                  string
		yaml, folder, program os.FileMode
		env                   bool // named by the environment, not the file
		owner, group          int  // of agent.yaml; 0: as it is
		refused               string
	}{
		{"ours", 0o600, 0o700, 0o755, false, 0, 0, ""},
		{"readable", 0o644, 0o755, 0o755, false, 0, 0, ""},
		{"the file by all", 0o602, 0o700, 0o755, false, 0, 0, "chmod go-w TOP/signet/agent.yaml"},
		{"the folder by all", 0o600, 0o777, 0o755, false, 0, 0, "chmod go-w TOP/signet)"},
		{"a sticky folder", 0o600, 0o777 | os.ModeSticky, 0o755, false, 0, 0, ""},
		{"the program by all", 0o600, 0o700, 0o757, false, 0, 0, "chmod go-w TOP/bin/hook)"},
		{"the program, from the environment", 0o600, 0o700, 0o757, true, 0, 0, "chmod go-w TOP/bin/hook)"},
		{"a file that another group reads", 0o640, 0o700, 0o755, false, 0, 65534, ""},
		{"a file that another group writes", 0o660, 0o700, 0o755, false, 0, 65534, "chmod go-w TOP/signet/agent.yaml"},
		{"a file that the group of root writes", 0o660, 0o700, 0o755, false, 0, 0, ""},
		{"another's file", 0o600, 0o700, 0o755, false, 65534, 0, "sudo chown $USER "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if (tc.owner != 0 || strings.Contains(tc.name, "group")) && os.Getuid() != 0 {
				t.Skip("only root can give files away")
			}
			top := t.TempDir()
			bin, dir := filepath.Join(top, "bin"), filepath.Join(top, "signet")
			program, file := filepath.Join(bin, "hook"), filepath.Join(dir, "agent.yaml")
			yaml := "acp:\n  on_session_end: [" + program + ", arg]\n"
			if tc.env {
				yaml = "acp: {}\n"
				t.Setenv("SIGNET_ACP_ON_SESSION_END", program+" arg")
			}
			if err := errors.Join(os.Mkdir(bin, 0o755), os.Mkdir(dir, 0o700),
				os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755), os.WriteFile(file, []byte(yaml), 0o600),
				os.Chmod(program, tc.program), os.Chmod(file, tc.yaml), os.Chmod(dir, tc.folder)); err != nil {
				t.Fatal(err)
			}
			if tc.owner != 0 || tc.group != 0 {
				if err := os.Chown(file, tc.owner, tc.group); err != nil { // nobody here is 0 but root
					t.Fatal(err)
				}
			}
			c, err := Load(Flags{SignetPath: dir})
			if tc.refused == "" {
				if err != nil || len(c.OnSessionEnd) != 2 {
					t.Errorf("%v, %v", c.OnSessionEnd, err)
				}
				return
			}
			if err == nil || len(c.OnSessionEnd) != 0 || !strings.Contains(err.Error(), strings.ReplaceAll(tc.refused, "TOP", top)) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, %v", c.OnSessionEnd, err)
			}
		})
	}
}

// A file that others can write names no daemon, database or command; what it leaves out stays out.
func TestUntrustedFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "agent.yaml")
	yaml := "acp:\n  daemon_url: http://127.0.0.1:1\n  db: /theirs\n  memory: off\n  exclude: [/secret]\n" +
		"  agents:\n    claude:\n      command: theirs\nidentity:\n  mode: off\n"
	if err := errors.Join(os.WriteFile(file, []byte(yaml), 0o600), os.Chmod(file, 0o666)); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Flags{SignetPath: dir})
	if err == nil || !strings.Contains(err.Error(), "(chmod go-w "+file+")") {
		t.Errorf("said: %v", err)
	}
	if c.DaemonConfigured || c.DB == "/theirs" || len(c.Agents) > 0 || c.IdentityFiles != nil {
		t.Errorf("it counts: %+v", c)
	}
	if c.Memory != "off" || len(c.Exclude) != 1 {
		t.Errorf("memory %s, excluded %v", c.Memory, c.Exclude)
	}
}
