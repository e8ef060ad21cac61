//go:build unix

package eventlog_test

import "syscall"

// limitFiles makes every file that this process writes end at a size, until it is given another.
func limitFiles(size uint64) {
	var limit syscall.Rlimit
	check(panicker{}, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	limit.Cur = min(size, limit.Max)
	check(panicker{}, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
}
