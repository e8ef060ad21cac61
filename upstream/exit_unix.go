//go:build unix

package upstream

import "golang.org/x/sys/unix"

// collect waits for a process, reaps it, and returns how it ended.
func collect(pid int) Exit {
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &status, 0, nil)
		switch {
		case err == nil:
			if status.Signaled() {
				return Exit{Signal: status.Signal()}
			}
			return Exit{Code: status.ExitStatus()}
		case err != unix.EINTR:
			return Exit{Code: 1} // it was reaped elsewhere
		}
	}
}
