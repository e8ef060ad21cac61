//go:build unix

package backfill

import (
	"io/fs"
	"os"
	"syscall"
)

// belongsToUser reports whether a file belongs to the user that we run as.
func belongsToUser(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid()
}
