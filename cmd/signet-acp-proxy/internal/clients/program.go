package clients

import "os/exec"

// inFull names our program by its path where the client has a desktop's PATH.
func (c client) inFull(command []string) []string {
	if c.Desktop && command[0] == program {
		if path, err := exec.LookPath(program); err == nil {
			command[0] = path
		}
	}
	return command
}

// full names our program by its path: a client that is set up by hand may have any PATH.
func (c client) full(command []string) []string {
	c.Desktop = true
	return c.inFull(command)
}
