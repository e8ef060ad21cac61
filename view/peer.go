package view

import (
	"net"
	"os"
	"runtime"

	"github.com/Signet-AI/signet-acp-proxy/socket"
)

// peersKnown: the system says whose the other end of a connection is. Where it does not, the token is good for one
// request.
const peersKnown = runtime.GOOS == "linux"

// sameUser reports whether the other end of a connection over loopback is a process of our own user or of root, as far
// as the system tells.
func sameUser(peer net.Addr) bool {
	address, ok := peer.(*net.TCPAddr)
	if !ok || address.IP.To4() == nil {
		return false
	}
	user, found, err := socket.User(address.AddrPort())
	if err != nil {
		return true // it cannot be known, and the token must do
	}
	return found && (user == 0 || user == os.Getuid())
}
