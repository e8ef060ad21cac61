package upstream

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// apart is inOwnGroup in namespaces of its own. Users are whom they are outside: root may be any, others only
// themselves.
func apart() *syscall.SysProcAttr {
	attr := inOwnGroup()
	attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWIPC
	if os.Geteuid() == 0 {
		attr.UidMappings, attr.GidMappings = mapped("/proc/self/uid_map"), mapped("/proc/self/gid_map")
		attr.GidMappingsEnableSetgroups = true
		return attr
	}
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN} // the rights of others than root end with exec
	return attr
}

// mapped returns the ids that there are where we are, each as itself.
func mapped(file string) (all []syscall.SysProcIDMap) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		var inside, outside, size int
		if n, _ := fmt.Sscan(line, &inside, &outside, &size); n == 3 {
			all = append(all, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: size})
		}
	}
	return all
}
