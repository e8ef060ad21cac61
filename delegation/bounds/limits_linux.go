package bounds

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// maxThreads is how many threads and processes may run in bounds: a build on a large machine has hundreds, a fork bomb
// no end.
const maxThreads = 4096

// limit sets what may be used from now on.
func (r Rules) limit() error {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err
	}
	var load [3]float64
	var running, all uint64
	if _, err := fmt.Sscanf(string(text), "%f %f %f %d/%d", &load[0], &load[1], &load[2], &running, &all); err != nil {
		return err
	}
	// more than run now: the kernel counts all of the user's, though never root's
	limits := map[int]uint64{unix.RLIMIT_NPROC: all + maxThreads, unix.RLIMIT_CORE: 0}
	if r.Memory > 0 {
		// what is written to: runtimes reserve far more addresses than they ever use
		limits[unix.RLIMIT_DATA] = uint64(r.Memory)
	}
	for resource, most := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(resource, &now); err != nil {
			return err
		}
		most = min(most, now.Max)
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	return nil
}
