//go:build unix

package config

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// writableByOthers returns the file, or the folder that it is in, if anybody but us and root can write it, and the
// command that mends it; "" otherwise. Links are followed.
func writableByOthers(file string) (name, mend string) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", ""
	}
	for _, name := range []string{real, filepath.Dir(real)} {
		info, err := os.Stat(name)
		if err != nil {
			continue
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			continue
		}
		// In a sticky folder such as /tmp others can add files, but not replace ours.
		byAll := info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0
		byGroup := info.Mode().Perm()&0o020 != 0 && info.Mode()&os.ModeSticky == 0 && stat.Gid != 0 &&
			!ownGroup(stat.Gid)
		if stat.Uid != 0 && int(stat.Uid) != os.Getuid() {
			return name, "sudo chown $USER " + name
		}
		if byAll || byGroup {
			return name, "chmod go-w " + name
		}
	}
	return "", ""
}

// ownGroup reports whether a group is the user's private one, which most systems make for each user, with the same
// name.
func ownGroup(gid uint32) bool {
	us, err := user.Current()
	if err != nil || us.Gid != strconv.Itoa(int(gid)) {
		return false
	}
	group, err := user.LookupGroupId(us.Gid)
	return err == nil && group.Name == us.Username
}
