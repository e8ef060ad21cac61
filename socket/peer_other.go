//go:build !linux && !darwin && !freebsd

package socket

func peer(int) (Peer, func() bool, error) { return Peer{}, nil, ErrUnknown }
