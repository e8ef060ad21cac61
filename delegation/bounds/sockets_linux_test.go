package bounds

import (
	"net"
	"path/filepath"
	"slices"
	"testing"
)

// The sockets that can be reached are those on which somebody listens: a file that may be written to, or none at all.
func TestSockets(t *testing.T) {
	list := `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 10 /run/docker.sock
0000000000000000: 00000002 00000000 00010000 0001 01 11 /run/closed.sock
0000000000000000: 00000002 00000000 00010000 0001 01 12 @/tmp/.X11-unix/X0
0000000000000000: 00000003 00000000 00000000 0001 03 13 /run/docker.sock
0000000000000000: 00000003 00000000 00000000 0001 03 14
0000000000000000: 00000002 00000000 00010000 0001 01 15 /run/with space
0000000000000000: 00000002 00000000 00010000 0001 01 16 /run/docker.sock
`
	got := listening(list, func(path string) bool { return path != "/run/closed.sock" })
	if want := []string{"/run/docker.sock", "/run/with space", "@/tmp/.X11-unix/X0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if !slices.Contains(Sockets(), path) {
		t.Errorf("%s is not among them", path)
	}
}
