//go:build !linux

package view

import "net"

// sameUser cannot be known on this system, and the token must do.
func sameUser(net.Addr) bool { return true }
