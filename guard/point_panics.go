//go:build panics

package guard

import "os"

// injected is what a build for tests panics with.
type injected string

// Point panics where the environment names it.
func Point(name string) {
	if name == os.Getenv("SIGNET_PANIC") {
		panic(injected(name))
	}
}
