package migrations

import "golang.org/x/sys/unix"

// onNetwork reports whether dir is on a network file system, and its type. If that cannot be found out, it counts as
// local.
func onNetwork(dir string) (bool, string) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil || st.Flags&unix.MNT_LOCAL != 0 {
		return false, ""
	}
	return true, unix.ByteSliceToString(st.Fstypename[:])
}

// writable returns an error if path cannot be written, without opening it.
func writable(path string) error { return unix.Access(path, unix.W_OK) }
