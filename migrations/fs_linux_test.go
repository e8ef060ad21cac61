package migrations

import "testing"

func TestMountKind(t *testing.T) {
	const mounts = `22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
36 22 0:31 / /home/u/far rw,nosuid,nodev,relatime shared:17 master:2 - fuse.sshfs u@far:/ rw,user_id=1000
40 22 0:35 / /home/u/a\040b rw,relatime - fuse.gvfsd-fuse gvfsd-fuse rw
41 22 0:36 - fuse.davfs2 short
42 22`
	for _, tt := range []struct {
		major, minor uint32
		want         string
		remote       bool
	}{
		{254, 0, "ext4", false},
		{0, 31, "fuse.sshfs", true},
		{0, 35, "fuse.gvfsd-fuse", false},
		{0, 36, "fuse.davfs2", true},
		{0, 3, "", false},
	} {
		got := mountKind(mounts, tt.major, tt.minor)
		if got != tt.want || remoteFuse[got] != tt.remote {
			t.Errorf("mountKind(%d:%d) = %q, want %q", tt.major, tt.minor, got, tt.want)
		}
	}
}
