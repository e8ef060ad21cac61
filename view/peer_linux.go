package view

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strconv"
)

// peersKnown: the system says whose the other end of a connection is.
const peersKnown = true

// sameUser reports whether the other end of a connection over loopback is a process of our own user or of root. The
// system lists every socket with its user (proc_pid_net(5), "tcp"); one that it does not list was closed.
func sameUser(peer net.Addr) bool {
	address, ok := peer.(*net.TCPAddr)
	if !ok || address.IP.To4() == nil {
		return false
	}
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return true // it cannot be known, and the token must do
	}
	uid, found := userOf(table, address)
	return found && (uid == 0 || uid == os.Getuid())
}

// userOf returns the user of the socket with an address, from the kernel's table.
func userOf(table []byte, address *net.TCPAddr) (uid int, found bool) {
	const local, user = 1, 7
	want := fmt.Appendf(nil, "%08X:%04X", binary.NativeEndian.Uint32(address.IP.To4()), address.Port)
	for line := range bytes.Lines(table) {
		fields := bytes.Fields(line)
		if len(fields) <= user || !bytes.Equal(fields[local], want) {
			continue
		}
		if uid, err := strconv.Atoi(string(fields[user])); err == nil {
			return uid, true
		}
	}
	return 0, false
}
