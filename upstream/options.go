package upstream

import (
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// ErrNotStarted is wrapped by every error of Start. The text says in one line what to do.
var ErrNotStarted = errors.New("harness not started")

// Options of a harness: what to start, and how to end it.
type Options struct {
	Command []string  // program and arguments; no shell is involved
	Env     []string  // the whole environment; nil: our own
	Dir     string    // where it is started; "": where we are
	Stderr  io.Writer // gets the harness's stderr as it comes, from one goroutine; never closed; nil: dropped

	Grace     time.Duration // from Hangup to TERM; zero: 5 s
	MinGrace  time.Duration // from the end of stdin to any signal, also after Terminate; zero: none
	KillAfter time.Duration // from the first signal, or Terminate, to KILL; zero: 1 s

	// OwnGuard says that the command starts a guard itself, with the socket that it gets as file descriptor 3, and
	// writes the guard's process id to it. Nothing that the command starts outlives the end of that socket. Linux only.
	OwnGuard bool
	// Apart starts the command in namespaces of its own, for users, mounts and what System V's processes share, where
	// the system lets us. It has the right to mount there. Linux only.
	Apart bool

	adapter []string // the command that npx is to run, if Command is npx

	linger time.Duration // how long others may hold the pipes after the harness has ended; zero: 2 s, but in tests
}

// environment returns env, or our own, with one entry for each name, the last one as in os/exec: given two, programs
// differ in which they use.
func environment(env []string) []string {
	if env == nil {
		env = os.Environ()
	}
	kept := make([]string, 0, len(env))
	seen := make(map[string]bool, len(env))
	for _, entry := range slices.Backward(env) {
		name, _, ok := strings.Cut(entry, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		if ok && name != "" && seen[name] {
			continue
		}
		seen[name] = true
		kept = append(kept, entry)
	}
	slices.Reverse(kept)
	return kept
}
