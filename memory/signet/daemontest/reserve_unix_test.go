//go:build unix

package daemontest

import (
	"errors"
	"net"
	"syscall"
	"testing"
)

// While a daemon is stopped its port is given to nobody else, and refuses.
func TestStoppedKeepsItsPort(t *testing.T) {
	d := Start(t, Options{})
	d.Stop()
	if _, err := net.Dial("tcp", d.addr); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a connection to a stopped daemon: %v", err)
	}
	local, err := net.ResolveTCPAddr("tcp4", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	other := Start(t, Options{})
	from := net.Dialer{LocalAddr: local}
	if c, err := from.Dial("tcp", other.addr); err == nil {
		t.Errorf("somebody connects from %s", c.LocalAddr())
		_ = c.Close()
	}
	if err := d.Resume(); err != nil {
		t.Error(err)
	}
}
