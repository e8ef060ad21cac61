//go:build !linux

package view

import "net"

// ours cannot be told here: the token has to do.
func ours(net.Addr) bool { return true }
