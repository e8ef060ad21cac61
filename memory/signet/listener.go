package signet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// Any user of this machine can listen on the daemon's port and claim to serve our folder. Only the system knows who
// does, and only Linux tells.

// ErrOtherUser is the reason when another user's process listens where a daemon would, and nobody configured that
// address.
var ErrOtherUser = errors.New("another user listens there")

// An owner is what is known of who listens at a daemon's address.
type owner int

const (
	ownerUnknown owner = iota // the system does not tell, or it is no address of this machine
	ownerOurs                 // our own user, or root
	ownerOther                // somebody else
	ownerNobody               // nobody listens there
)

// ownerOf says who listens at a daemon's origin.
func ownerOf(base *url.URL) owner {
	port, err := strconv.Atoi(base.Port())
	if err != nil || !loopback(base.Hostname()) {
		return ownerUnknown
	}
	uids, err := listeners(port)
	if err != nil {
		return ownerUnknown
	}
	found := ownerNobody
	for _, uid := range uids { // one on each of several addresses: we do not know which is reached
		if uid != 0 && uid != os.Getuid() {
			return ownerOther
		}
		found = ownerOurs
	}
	return found
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// listeners returns the users that listen on a port of this machine, where the system is Linux.
func listeners(port int) (uids []int, err error) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(table)
		if errors.Is(err, fs.ErrNotExist) && table == "/proc/net/tcp6" { // a kernel without it
			continue
		}
		if err != nil {
			return nil, err
		}
		uids = append(uids, parseListeners(text, port)...)
	}
	return uids, nil
}

// parseListeners returns the users that listen on a port at an address that loopback reaches, from a table as the
// kernel writes it (proc_pid_net(5), "tcp").
func parseListeners(table []byte, port int) (uids []int) {
	const local, state, user, listening = 1, 3, 7, "0A"
	for line := range bytes.Lines(table) {
		fields := strings.Fields(string(line))
		if len(fields) <= user || fields[state] != listening {
			continue
		}
		address, hexPort, ok := strings.Cut(fields[local], ":")
		n, err := strconv.ParseUint(hexPort, 16, 16)
		if !ok || err != nil || int(n) != port || !reachedByLoopback(address) {
			continue
		}
		if uid, err := strconv.Atoi(fields[user]); err == nil {
			uids = append(uids, uid)
		}
	}
	return uids
}

// reachedByLoopback reports whether an address, in 32-bit words of the machine's order, is a loopback one or the one
// that stands for all.
func reachedByLoopback(address string) bool {
	if strings.Trim(address, "0") == "" {
		return true
	}
	ip := make(net.IP, 0, net.IPv6len)
	for at := 0; at+8 <= len(address); at += 8 {
		word, err := strconv.ParseUint(address[at:at+8], 16, 32)
		if err != nil {
			return false
		}
		ip = binary.NativeEndian.AppendUint32(ip, uint32(word))
	}
	return ip.IsLoopback()
}
