package delivery

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"time"
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
	leaving, first, err = s.detached()
	if err != nil {
		return nil, nil, err
	}
	if err := json.NewEncoder(leaving).Encode(s.Pass); err != nil {
		leaving.Close()
		return nil, nil, errors.Join(err, first.Wait())
	}
	return leaving, first, nil
}

// Tell starts a program that outlives us and tells it a text, on its stdin.
func (s Spawn) Tell(text []byte) error {
	stdin, first, err := s.detached()
	if err != nil {
		return err
	}
	err = stdin.SetWriteDeadline(time.Now().Add(tellLimit))
	if err == nil {
		_, err = stdin.Write(text)
	}
	return errors.Join(err, stdin.Close(), first.Wait())
}

// tellLimit is for a program to read what it is told; on a busy machine it starts late.
const tellLimit = 10 * time.Second

// detached starts the program by a first process, and gives the other end of its stdin.
func (s Spawn) detached() (stdin *os.File, first *exec.Cmd, err error) {
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
	if err := cmd.Start(); err != nil {
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
