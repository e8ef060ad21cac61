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

// ErrNotStarted is what every error of Start is: no harness, and the text says in one line what to do about it.
var ErrNotStarted = errors.New("harness not started")

// Options say what to start and how to end it.
type Options struct {
	Command []string  // program and arguments; no shell is involved
	Env     []string  // the whole environment; nil: our own
	Stderr  io.Writer // gets the harness's stderr as it comes, from one goroutine; nil: nobody does. Never closed

	Grace     time.Duration // from the end of stdin to TERM while nobody hurries us; zero: 5 s
	MinGrace  time.Duration // from the end of stdin to any signal, however much we are hurried; zero: none
	KillAfter time.Duration // from the first signal, or Terminate, to KILL; zero: 1 s

	linger time.Duration // for tests
}

// environment returns env, or ours, with one entry a name: of two, programs differ in which they believe. The last
// counts, as in os/exec.
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
