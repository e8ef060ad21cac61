package socket

import (
	"net"
	"os"
)

// SameUser accepts only connections from processes of our own user or of root, as far as the system tells.
func SameUser(l net.Listener) net.Listener { return sameUser{l} }

type sameUser struct{ net.Listener }

// Accept closes all other connections.
func (l sameUser) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || isOurs(c.RemoteAddr()) {
			return c, err
		}
		_ = c.Close()
	}
}

// isOurs reports whether the other end of a connection over IPv4 is our own user's or root's. Where that cannot be
// known, whatever else is checked must do.
func isOurs(peer net.Addr) bool {
	address, ok := peer.(*net.TCPAddr)
	if !ok || address.IP.To4() == nil {
		return false
	}
	user, found, err := User(address.AddrPort())
	return err != nil || found && (user == 0 || user == os.Getuid())
}
