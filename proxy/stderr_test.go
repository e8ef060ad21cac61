package proxy

import (
	"strings"
	"testing"
)

// stuckWriter is a writer that takes nothing until it is released.
type stuckWriter struct {
	release chan struct{}
	got     safeBuffer
}

func (s *stuckWriter) Write(b []byte) (int, error) {
	<-s.release
	return s.got.Write(b)
}

// Whoever does not read what people are told holds nothing up, and is told what was left out.
func TestNobodyReadsStderr(t *testing.T) {
	out := &stuckWriter{release: make(chan struct{})}
	w := newWorld(t)
	c, h := w.scripted(func(o *Options) { o.Client.Stderr = out })
	const line = "no frame, and nobody reads it\n"
	h.say(strings.Repeat(line, 2*maxWaiting/len(line)))
	h.say(`{"jsonrpc":"2.0","method":"_behind"}` + "\n")
	c.until("_behind")
	close(out.release)
	h.die()
	c.close()
	got := out.got.String()
	if !strings.Contains(got, "not a frame, on the harness's stdout: "+line) ||
		!strings.Contains(got, "bytes were left out here") {
		t.Errorf("people read %d bytes, ending in %q", len(got), got[max(0, len(got)-200):])
	}
}
