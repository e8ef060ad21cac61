package socket

import (
	"errors"

	"golang.org/x/sys/unix"
)

// peer asks who connected, and for a descriptor of the process (Linux 6.5): while that is not gone, its id is no
// other's. gone must be called, once.
func peer(fd int) (p Peer, gone func() bool, err error) {
	who, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return p, nil, err
	}
	p = Peer{User: int(who.Uid), ID: int(who.Pid)}
	process, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	if err != nil {
		return p, still, nil
	}
	return p, func() bool {
		defer unix.Close(process)
		return errors.Is(unix.PidfdSendSignal(process, 0, nil, 0), unix.ESRCH)
	}, nil
}
