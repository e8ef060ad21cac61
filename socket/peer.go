package socket

import (
	"errors"
	"net"
)

// A Peer is the process at the other end of a connection over a Unix socket: the one that connected.
type Peer struct {
	User int
	ID   int // 0: the system does not tell, or the process is outside of what we see of it
}

// Errors of AskPeer.
var (
	ErrUnknown = errors.New("this system does not tell who is at the other end of a socket")
	errGone    = errors.New("the process that connected has ended")
)

// AskPeer has look look at who connected. It returns look's error, or one if the process ended meanwhile, as far as the
// system tells: then its id may have been another's.
func AskPeer(conn *net.UnixConn, look func(Peer) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var p Peer
	var gone func() bool
	if failed := raw.Control(func(fd uintptr) { p, gone, err = peer(int(fd)) }); failed != nil || err != nil {
		return errors.Join(failed, err)
	}
	err = look(p)
	if gone() && err == nil {
		err = errGone
	}
	return err
}

// still is for systems that cannot hold on to a process.
func still() bool { return false }
