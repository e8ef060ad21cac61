//go:build !unix

package eventlog_test

// limitFiles has no such limit to set here.
func limitFiles(uint64) { panic("no limit on the size of files on this system") }
