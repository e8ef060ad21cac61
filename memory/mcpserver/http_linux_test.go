package mcpserver

import (
	"net"
	"net/url"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Another user gets no answer over HTTP, with the token either.
func TestHTTPRefusesOtherUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	at, authorization, err := newServer(t, newStore(t)).HTTP(robin)
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() (string, error) {
		c, err := net.Dial("tcp4", to.Host)
		if err != nil {
			return "", err
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(patience))
		_, _ = c.Write([]byte("GET /x HTTP/1.1\r\nHost: " + to.Host + "\r\nAuthorization: " + authorization + "\r\n\r\n"))
		b := make([]byte, 12)
		n, _ := c.Read(b)
		return string(b[:n]), nil
	}
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
		text, err := ask()
		got <- answer{text, err}
	}()
	if a := <-got; a.err != nil || a.text != "" {
		t.Errorf("another user got %q, %v", a.text, a.err)
	}
	if text, err := ask(); err != nil || text != "HTTP/1.1 404" {
		t.Errorf("our own got %q, %v", text, err)
	}
}
