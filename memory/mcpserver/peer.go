//go:build linux || darwin || freebsd

package mcpserver

import (
	"fmt"
	"net"
	"os"
)

// checkPeer returns an error for a connection from a process of another user.
func checkPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return fmt.Errorf("asking who connected: %w", err)
	}
	var uid int
	var failed error
	if err := raw.Control(func(fd uintptr) { uid, failed = peerUID(int(fd)) }); err != nil {
		failed = err
	}
	if failed != nil {
		return fmt.Errorf("asking who connected: %w", failed)
	}
	if uid != os.Getuid() {
		return fmt.Errorf("user %d is not user %d", uid, os.Getuid())
	}
	return nil
}
