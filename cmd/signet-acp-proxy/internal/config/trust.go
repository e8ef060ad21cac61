package config

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/files"
)

// readTrusted reads agent.yaml, unless others can write it: its addresses and commands are as good as a login. Of such
// a file only what takes something away counts.
func (c *Config) readTrusted(file string) error {
	writable, mend := writableByOthers(file)
	if writable == "" {
		return c.readFile(file)
	}
	theirs := &Config{sources: map[string]string{}}
	_ = theirs.readFile(file) // mistakes in it are nobody's
	c.Exclude = theirs.Exclude
	if theirs.Memory == "off" {
		c.Memory, c.sources["memory"] = "off", theirs.sources["memory"]
	}
	return fmt.Errorf("%s is ignored: others can write to %s (%s)", file, writable, mend)
}

// trustHook drops an on_session_end whose program others can write.
func (c *Config) trustHook() error {
	if len(c.OnSessionEnd) == 0 {
		return nil
	}
	program, err := exec.LookPath(c.OnSessionEnd[0])
	if err != nil {
		return nil // running it says so
	}
	if program, err = filepath.Abs(program); err != nil {
		return nil
	}
	if writable, mend := writableByOthers(program); writable != "" {
		c.OnSessionEnd = nil
		return fmt.Errorf("on_session_end does not run: others can write to %s (%s)", writable, mend)
	}
	return nil
}

// writableByOthers returns the file, or the folder that it is in, if anybody but us and root can write it, and the
// command that mends it; "" otherwise. Links are followed.
func writableByOthers(file string) (name, mend string) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", ""
	}
	for _, name := range []string{real, filepath.Dir(real)} {
		if info, err := os.Stat(name); err == nil {
			if mend := files.ByOthers(name, info); mend != "" {
				return name, mend
			}
		}
	}
	return "", ""
}
