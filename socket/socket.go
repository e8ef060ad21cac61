// Package socket asks the system who is at the other end of a connection. Of a TCP socket of this machine only Linux
// tells whose it is: it lists every socket with its user (proc_pid_net(5), "tcp"). Elsewhere that is answered with an
// error.
package socket

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

const (
	tableV4 = "/proc/net/tcp"
	tableV6 = "/proc/net/tcp6"
)

// A row is a socket in the system's table.
type row struct {
	local     netip.AddrPort
	listening bool
	user      int
}

// Listeners returns the users that listen on a port at an address that loopback reaches.
func Listeners(port int) (users []int, err error) {
	for _, name := range []string{tableV4, tableV6} {
		table, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) && name == tableV6 { // a kernel without it
			continue
		}
		if err != nil {
			return nil, err
		}
		users = append(users, listeners(parse(table), port)...)
	}
	return users, nil
}

func listeners(rows []row, port int) (users []int) {
	for _, r := range rows {
		at := r.local.Addr()
		if r.listening && int(r.local.Port()) == port && (at.IsUnspecified() || at.Unmap().IsLoopback()) {
			users = append(users, r.user)
		}
	}
	return users
}

// User returns whose the socket with an IPv4 address is. found is false for one that was closed.
func User(address netip.AddrPort) (user int, found bool, err error) {
	table, err := os.ReadFile(tableV4)
	if err != nil {
		return 0, false, err
	}
	for _, r := range parse(table) {
		if r.local == address {
			return r.user, true, nil
		}
	}
	return 0, false, nil
}

// parse reads a table as the kernel writes it. What is no row is left out, and so is a socket that no process has any
// more: whoever closed it, the kernel says that it is root's.
func parse(table []byte) (rows []row) {
	const local, state, user, inode, listening = 1, 3, 7, 9, "0A"
	for line := range bytes.Lines(table) {
		fields := strings.Fields(string(line))
		if len(fields) <= inode || fields[inode] == "0" {
			continue
		}
		address, ok := parseAddress(fields[local])
		uid, err := strconv.Atoi(fields[user])
		if ok && err == nil {
			rows = append(rows, row{address, fields[state] == listening, uid})
		}
	}
	return rows
}

// parseAddress reads an address, which is in 32-bit words of the machine's order, and a port.
func parseAddress(text string) (address netip.AddrPort, ok bool) {
	words, hexPort, _ := strings.Cut(text, ":")
	port, err := strconv.ParseUint(hexPort, 16, 16)
	if err != nil {
		return address, false
	}
	var ip []byte
	for ; len(words) >= 8; words = words[8:] {
		word, err := strconv.ParseUint(words[:8], 16, 32)
		if err != nil {
			return address, false
		}
		ip = binary.NativeEndian.AppendUint32(ip, uint32(word))
	}
	at, ok := netip.AddrFromSlice(ip)
	return netip.AddrPortFrom(at, uint16(port)), ok
}
