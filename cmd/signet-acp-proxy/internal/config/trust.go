package config

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// trustHook refuses to take on_session_end from a file that others can write to, or to run a program that they can:
// either is a way to run a command as us. What an environment or a flag says is the person's own.
func (c *Config) trustHook(file string) error {
	if len(c.OnSessionEnd) == 0 {
		return nil
	}
	var names []string
	if strings.HasPrefix(c.Source("on_session_end"), file+":") {
		names = append(names, file)
	}
	if program, err := exec.LookPath(c.OnSessionEnd[0]); err == nil {
		if program, err = filepath.Abs(program); err == nil {
			names = append(names, program)
		}
	}
	for _, name := range names {
		if writable := openToOthers(name); writable != "" {
			c.OnSessionEnd = nil
			return fmt.Errorf("on_session_end is not run: others can write to %s (chmod go-w %s)", writable, writable)
		}
	}
	return nil
}
