package upstream

import (
	"io"
	"os"
	"syscall"
	"testing"
)

func TestSmoke(t *testing.T) {
	p, err := Start(Options{Command: []string{"cat"}, Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	go func() { p.Stdin.Write([]byte("hello\n")); p.Hangup() }()
	b, err := io.ReadAll(p.Stdout)
	if string(b) != "hello\n" || err != nil {
		t.Fatal(string(b), err)
	}
	t.Log(p.Wait())
	p, err = Start(Options{Command: []string{"sh", "-c", "echo boo >&2; sleep 100"}})
	p.Terminate(syscall.SIGTERM)
	t.Log(p.Wait(), p.LastStderr())
}
