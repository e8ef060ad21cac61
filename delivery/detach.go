package delivery

import (
	"encoding/json"
	"os"
	"os/exec"
)

// Who ends a client's connection may end all that it finds below it: acpx does, processes in other sessions included
// (docs/facts/acpx.md, "The end of a connection"). So a worker is nobody's child: the relay starts a first process
// (Detach), which starts the worker and exits.

// A Spawn says how a detached worker is started.
type Spawn struct {
	Args []string // of a program like ours, that the worker runs with
	Dir  string
	Env  []string
	Pass Credential // what the worker is told, on its stdin and nowhere else
}

// A Credential is the secret for a daemon. Url is "" for the one that a worker is configured for.
type Credential struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

// DetachWord, as the first argument, makes a program of ours the first process. It is looked at before the command
// line is parsed, which would take longer than all else.
const DetachWord = "--detach"

// start starts a worker that outlives us, and has its first process left to wait for. The worker begins when the file
// that is given is closed, which the system does if we die.
func (s Spawn) start() (leaving *os.File, first *exec.Cmd, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer read.Close()
	cmd := exec.Command(self, append([]string{DetachWord}, s.Args...)...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdin = read // its output goes nowhere: who reads ours waits for the last one that has it open
	cmd.Dir, cmd.Env = s.Dir, s.Env
	apart(cmd)
	if err = json.NewEncoder(write).Encode(s.Pass); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		write.Close()
		return nil, nil, err
	}
	return write, cmd, nil
}

// Detach is the first process: it starts the worker, with its own stdin, and is to exit then.
func Detach(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdin = os.Stdin
	apart(cmd)
	return cmd.Start()
}
