package migrations

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// The network file systems, by their magic number in statfs(2).
var remote = map[uint32]string{
	unix.NFS_SUPER_MAGIC:  "nfs",
	unix.SMB_SUPER_MAGIC:  "smb",
	unix.CIFS_SUPER_MAGIC: "cifs",
	unix.SMB2_SUPER_MAGIC: "smb2",
	unix.AFS_SUPER_MAGIC:  "afs",
	unix.AFS_FS_MAGIC:     "afs",
	unix.CEPH_SUPER_MAGIC: "ceph",
	unix.CODA_SUPER_MAGIC: "coda",
	unix.NCP_SUPER_MAGIC:  "ncp",
	unix.V9FS_MAGIC:       "9p",
}

// Most FUSE file systems are local; these are not. Their types are only in mountinfo.
var remoteFuse = map[string]bool{
	"fuse.sshfs": true, "fuse.rclone": true, "fuse.s3fs": true, "fuse.gcsfuse": true, "fuse.glusterfs": true,
	"fuse.ceph-fuse": true, "fuse.curlftpfs": true, "fuse.davfs2": true, "fuse.juicefs": true,
}

// onNetwork reports whether dir is on a network file system, and its type. If that cannot be found out, it counts as
// local.
func onNetwork(dir string) (bool, string) {
	var fs unix.Statfs_t
	_ = unix.Statfs(dir, &fs) // after an error its type is 0, which is none
	if magic := uint32(fs.Type); magic != unix.FUSE_SUPER_MAGIC {
		return remote[magic] != "", remote[magic]
	}
	var st unix.Stat_t
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || unix.Stat(dir, &st) != nil {
		return false, ""
	}
	kind := mountKind(string(mounts), unix.Major(st.Dev), unix.Minor(st.Dev))
	return remoteFuse[kind], kind
}

// mountKind returns the type of the file system on a device from /proc/self/mountinfo (proc(5)); "" if it is not there.
func mountKind(mounts string, major, minor uint32) string {
	device := fmt.Sprintf("%d:%d", major, minor)
	for line := range strings.Lines(mounts) {
		mount, rest, _ := strings.Cut(line, " - ")
		if at := strings.Fields(mount); len(at) > 2 && at[2] == device {
			kind, _, _ := strings.Cut(rest, " ")
			return kind
		}
	}
	return ""
}

// writable returns an error if path cannot be written, without opening it.
func writable(path string) error { return unix.Access(path, unix.W_OK) }
