package socket

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Who connected is known as long as it lives, also where another process holds the connection.
func TestAskPeer(t *testing.T) {
	at := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	mine, err := net.Dial("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	accept := func() *net.UnixConn {
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c.(*net.UnixConn)
	}
	wrong := errors.New("no")
	conn := accept()
	for _, want := range []error{nil, wrong} {
		err := AskPeer(conn, func(p Peer) error {
			if p != (Peer{os.Getuid(), os.Getpid()}) {
				t.Errorf("it is %+v", p)
			}
			return want
		})
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}

	other := exec.Command(os.Args[0], "-test.run=^TestConnectAndLeave$")
	other.Env = append(os.Environ(), "CONNECT_TO="+at)
	if out, err := other.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	err = AskPeer(accept(), func(p Peer) error {
		if p.ID != other.Process.Pid {
			t.Errorf("it is %d, want %d", p.ID, other.Process.Pid)
		}
		return nil
	})
	if !errors.Is(err, errGone) {
		t.Skipf("Linux before 6.5 holds no process: %v", err)
	}
}

// TestConnectAndLeave is the other process.
func TestConnectAndLeave(t *testing.T) {
	if at := os.Getenv("CONNECT_TO"); at != "" {
		if _, err := net.Dial("unix", at); err != nil {
			t.Fatal(err)
		}
	}
}
