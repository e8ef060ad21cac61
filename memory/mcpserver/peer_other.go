//go:build unix && !linux && !darwin && !freebsd

package mcpserver

import "os"

// peerUID returns our own user: the system does not tell, and the folder's mode keeps others out.
func peerUID(int) (int, error) { return os.Getuid(), nil }
