package socket

import "golang.org/x/sys/unix"

func peer(fd int) (p Peer, gone func() bool, err error) {
	who, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return p, nil, err
	}
	id, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	return Peer{User: int(who.Uid), ID: id}, still, err
}
