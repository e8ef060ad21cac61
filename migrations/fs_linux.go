package migrations

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// The kinds of file systems that statfs(2) knows to be remote.
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

// Most of FUSE is local; these are not. Their names are in mountinfo only.
var remoteFuse = map[string]bool{
	"fuse.sshfs": true, "fuse.rclone": true, "fuse.s3fs": true, "fuse.gcsfuse": true, "fuse.glusterfs": true,
	"fuse.ceph-fuse": true,
	"fuse.curlftpfs": true, "fuse.davfs2": true, "fuse.juicefs": true,
}

// onNetwork reports whether dir is on a network file system, and on which kind. What cannot be found out counts as
// local.
func onNetwork(dir string) (bool, string) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return false, ""
	}
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

// mountKind finds the type of the file system on a device in /proc/self/mountinfo (proc(5)).
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

// writable reports why path cannot be written, asking without opening it.
func writable(path string) error { return unix.Access(path, unix.W_OK) }
