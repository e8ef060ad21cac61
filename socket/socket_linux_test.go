package socket

import (
	"net"
	"net/netip"
	"os"
	"testing"
)

// Every address that loopback reaches counts.
func TestListeners(t *testing.T) {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	users, err := Listeners(l.Addr().(*net.TCPAddr).Port)
	if err != nil || len(users) != 1 || users[0] != os.Getuid() {
		t.Errorf("%v, %v", users, err)
	}
	row := func(local, state, uid string) string {
		return "   0: " + local + " 00000000:0000 " + state + " 00000000:00000000 00:00000000 00000000 " + uid +
			"        0 12345 1 0 100 0 0 10 0\n"
	}
	for _, tc := range []struct {
		name, table string
		want        int
	}{
		{"loopback", row("0100007F:0F0A", "0A", "1000"), 1},
		{"all addresses", row("00000000:0F0A", "0A", "1000"), 1},
		{"v6 loopback", row("00000000000000000000000001000000:0F0A", "0A", "1000"), 1},
		{"v6 all", row("00000000000000000000000000000000:0F0A", "0A", "1000"), 1},
		{"v4 in v6", row("0000000000000000FFFF00000100007F:0F0A", "0A", "1000"), 1},
		{"two", row("0100007F:0F0A", "0A", "1000") + row("00000000:0F0A", "0A", "0"), 2},
		{"another address", row("0101A8C0:0F0A", "0A", "1000"), 0},
		{"another port", row("0100007F:0F0B", "0A", "1000"), 0},
		{"a connection", row("0100007F:0F0A", "01", "1000"), 0},
		{"garbage", "x y z\n\n" + row("0100007F", "0A", "1000") + row("0100007F:XXXX", "0A", "1000") +
			row("0100007F:0F0A", "0A", "x"), 0},
	} {
		if got := listeners(parse([]byte(tc.table)), 3850); len(got) != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}

// The other end of a connection has a user while it is open.
func TestUser(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	peer := c.LocalAddr().(*net.TCPAddr).AddrPort()
	if user, found, err := User(peer); err != nil || !found || user != os.Getuid() {
		t.Errorf("%v: %d, %v, %v", peer, user, found, err)
	}
	if _, found, err := User(netip.AddrPortFrom(peer.Addr(), 0)); err != nil || found {
		t.Errorf("port 0: %v, %v", found, err)
	}
	c.Close() // what it sent is still to be read
	if user, found, err := User(peer); err != nil || found {
		t.Errorf("closed: %d, %v, %v", user, found, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("   0: 0100007F:0F0A 00000000:0000 0A 0:0 0:0 0 1000 0 1\n"))
	f.Fuzz(func(t *testing.T, table []byte) { parse(table) })
}
