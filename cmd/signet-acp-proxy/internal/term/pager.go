package term

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Page shows what write writes: for a person through a pager ($PAGER, else less), otherwise as it is.
func Page(out io.Writer, write func(Screen) error) error {
	s := On(out)
	pager := strings.Fields(os.Getenv("PAGER"))
	if len(pager) == 0 {
		pager = []string{"less"}
	}
	path, err := exec.LookPath(pager[0])
	if !IsPerson(out) || err != nil || os.Getenv("TERM") == "dumb" {
		return write(s)
	}
	cmd := exec.Command(path, pager[1:]...)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	cmd.Env = os.Environ()
	for name, value := range map[string]string{
		"LESS":        "FRX",   // it quits if all fits, shows colours, and leaves the screen as it is
		"LESSCHARSET": "utf-8", // also where no locale is set
	} {
		if os.Getenv(name) == "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return write(s)
	}
	if cmd.Start() != nil {
		return write(s)
	}
	s.W = in
	err = write(s)
	if errors.Is(err, syscall.EPIPE) { // the person has read enough
		err = nil
	}
	return errors.Join(err, in.Close(), cmd.Wait())
}
