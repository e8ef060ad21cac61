package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Who ends a client's connection may end all that it finds below it: acpx does, processes in other sessions included (facts/acpx.md, section 2). So a worker is
// nobody's child: the relay starts a first process, which starts the worker and exits.

// spawnWorker starts a worker that outlives us, and has its first process left to wait for. The worker begins when the file that is given is closed, which
// the system does if we die. The token goes through it, and through nothing else.
func spawnWorker(c *Config) (parting *os.File, first *exec.Cmd, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	args := []string{detachWord, "deliver", "--parted", "--db", absolute(c.DB), "--signet-path", c.SignetPath, "--memory", c.Memory, "--log-level", c.LogLevel}
	if c.LogFile != "" && c.LogFile != "-" {
		args = append(args, "--log-file", absolute(c.LogFile))
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer read.Close()
	cmd := exec.Command(self, args...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdin = read // its output goes nowhere: who reads ours waits for the last one that has it open
	cmd.Dir = filepath.Dir(absolute(c.DB))
	cmd.Env = workerEnv(c)
	apart(cmd)
	if _, err = fmt.Fprintln(write, daemonToken()); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		write.Close()
		return nil, nil, err
	}
	return write, cmd, nil
}

// detachWord makes us the first process. It is looked at before the command line is parsed, which would take longer than all else.
const detachWord = "--detach"

// detach is the first process: it starts the worker, with its own stdin, and exits.
func detach(args []string) int {
	self, err := os.Executable()
	if err == nil {
		cmd := exec.Command(self, args...)
		cmd.Args[0] = os.Args[0]
		cmd.Stdin = os.Stdin
		apart(cmd)
		err = cmd.Start()
	}
	if err != nil {
		return exitNotStarted
	}
	return 0
}

// workerEnv is our environment without the token, which the worker reads, and with a daemon that was named by a flag: in an argument it would stand above the one that a
// row is owed to.
func workerEnv(c *Config) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(tokenVariables, name)
	})
	if c.sources["daemon_url"] == "--daemon-url" {
		env = append(env, "SIGNET_ACP_DAEMON_URL="+c.DaemonURL)
	}
	return env
}

// absolute is a path as a process in another folder names it.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
