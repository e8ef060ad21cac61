package config

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// trustHook drops on_session_end if it comes from a file that others can write, or runs a program that they can write:
// either would let others run commands as us. The environment and flags are trusted.
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
		if writable := writableByOthers(name); writable != "" {
			c.OnSessionEnd = nil
			return fmt.Errorf("on_session_end is not run: others can write to %s (chmod go-w %s)", writable, writable)
		}
	}
	return nil
}
