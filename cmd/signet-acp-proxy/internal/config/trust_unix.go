//go:build unix

package config

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// openToOthers names the file, or the folder that it lies in, that somebody but us and root can write to; "" where
// nobody can. A link is followed, and looked at by the place that it leads to.
func openToOthers(file string) string {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return ""
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
		// In a folder that is sticky, such as /tmp, others can add files and replace none of ours.
		byAll := info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0
		byGroup := info.Mode().Perm()&0o020 != 0 && info.Mode()&os.ModeSticky == 0 && stat.Gid != 0 &&
			!ownGroup(stat.Gid)
		if byAll || byGroup || stat.Uid != 0 && int(stat.Uid) != os.Getuid() {
			return name
		}
	}
	return ""
}

// ownGroup reports whether a group is the user's private one, as most systems make for each user: named like them.
func ownGroup(gid uint32) bool {
	us, err := user.Current()
	if err != nil || us.Gid != strconv.Itoa(int(gid)) {
		return false
	}
	group, err := user.LookupGroupId(us.Gid)
	return err == nil && group.Name == us.Username
}
