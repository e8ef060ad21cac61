//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// NoFollow is a flag of os.OpenFile: the name is not a symbolic link.
const NoFollow = syscall.O_NOFOLLOW

// Ours reports whether a file belongs to the user that we run as: another one's is not ours to believe.
func Ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid()
}
