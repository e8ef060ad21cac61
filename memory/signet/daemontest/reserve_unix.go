//go:build unix

package daemontest

import (
	"fmt"
	"net"
	"strconv"

	"golang.org/x/sys/unix"
)

// reserve keeps an address for us until release is called: a socket that is bound there and does not listen. Nobody
// else is given its port meanwhile, and connections are refused unless we listen. A port 0 becomes one that is free.
func reserve(address string) (reserved string, release func(), err error) {
	at, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return "", nil, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return "", nil, fmt.Errorf("making a socket: %w", err)
	}
	unix.CloseOnExec(fd)
	release = func() { _ = unix.Close(fd) }
	bound := unix.SockaddrInet4{Port: at.Port, Addr: [4]byte(at.IP.To4())}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		release()
		return "", nil, err
	}
	if err := unix.Bind(fd, &bound); err != nil {
		release()
		return "", nil, fmt.Errorf("binding %s: %w", address, err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		release()
		return "", nil, err
	}
	return net.JoinHostPort(at.IP.String(), strconv.Itoa(name.(*unix.SockaddrInet4).Port)), release, nil
}
