//go:build unix

package files

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"sync"
	"syscall"
)

// NoFollow is a flag of os.OpenFile: the name is not a symbolic link.
const NoFollow = syscall.O_NOFOLLOW

// Ours reports whether a file belongs to the user that we run as: another one's is not ours to believe.
func Ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid()
}

// ByOthers returns the command that keeps others from writing a file or folder; "" where only we and root can.
func ByOthers(name string, info fs.FileInfo) (mend string) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	// In a sticky folder such as /tmp others can add files, but not replace ours.
	byAll := info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0
	byGroup := info.Mode().Perm()&0o020 != 0 && info.Mode()&os.ModeSticky == 0 && stat.Gid != 0 &&
		strconv.Itoa(int(stat.Gid)) != privateGroup()
	switch {
	case stat.Uid != 0 && int(stat.Uid) != os.Getuid():
		return "sudo chown $USER " + name
	case byAll || byGroup:
		return "chmod go-w " + name
	}
	return ""
}

// privateGroup is the group that most systems make for each user, with the same name; "" where there is none.
var privateGroup = sync.OnceValue(func() string {
	us, err := user.Current()
	if err != nil {
		return ""
	}
	if group, err := user.LookupGroupId(us.Gid); err != nil || group.Name != us.Username {
		return ""
	}
	return us.Gid
})
