//go:build unix

package eventlog_test

import "syscall"

// limitFiles makes every file that this process writes end at a size.
func limitFiles(size uint64) {
	check(panicker{}, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size}))
}
