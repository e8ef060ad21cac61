package migrations

import "golang.org/x/sys/unix"

// The kinds of file systems that statfs(2) knows to be remote. FUSE is not among them: most of it is local.
var remote = map[int64]string{
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

// onNetwork reports whether dir is on a network file system, and on which kind. What cannot be found out counts as local.
func onNetwork(dir string) (bool, string) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return false, ""
	}
	kind, ok := remote[int64(uint32(st.Type))]
	return ok, kind
}

// writable reports why path cannot be written, asking without opening it.
func writable(path string) error { return unix.Access(path, unix.W_OK) }
