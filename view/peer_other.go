//go:build !linux

package view

import "net"

// peersKnown: the system does not say whose the other end of a connection is, so the token is good for one request.
const peersKnown = false

func sameUser(net.Addr) bool { return true }
