package signet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
)

// listeners returns the users that listen on a port of this machine.
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

// nativeBytes are the bytes of a word as this machine keeps it.
func nativeBytes(word uint32) []byte { return binary.NativeEndian.AppendUint32(nil, word) }

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
		ip = append(ip, nativeBytes(uint32(word))...)
	}
	return ip.IsLoopback()
}
