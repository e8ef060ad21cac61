package view_test

import (
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/Signet-AI/signet-acp-proxy/view/viewtest"
)

// Another user's process is not even listened to, though it knows the key.
func TestLiveRefusesOtherUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	s := serve(t, viewtest.Sample{})
	host := strings.TrimPrefix(s.origin(), "http://")
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), 65534, ^uintptr(0)); errno != 0 {
			got <- answer{err: errno}
			return
		}
		c, err := net.Dial("tcp4", host)
		if err != nil {
			got <- answer{err: err}
			return
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		_, _ = c.Write([]byte("GET " + strings.TrimPrefix(s.key, s.origin()) + " HTTP/1.1\r\nHost: " + host +
			"\r\n\r\n"))
		b := make([]byte, 100)
		n, _ := c.Read(b)
		got <- answer{text: string(b[:n])}
	}()
	if a := <-got; a.err != nil || a.text != "" {
		t.Errorf("another user got %q, %v", a.text, a.err)
	}
	if code, _ := s.do("GET", "", ""); code != 200 {
		t.Errorf("our own got %d", code)
	}
}
