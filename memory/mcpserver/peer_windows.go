package mcpserver

import "net"

// checkPeer has nobody to ask here: the temp folder is the user's own.
func checkPeer(*net.UnixConn) error { return nil }

func own(string) bool { return true }
