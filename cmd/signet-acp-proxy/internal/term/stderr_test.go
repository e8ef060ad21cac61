package term

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A stuck writer takes nothing until it is released.
type stuck struct {
	release chan struct{}
	got     bytes.Buffer
}

func (s *stuck) Write(b []byte) (int, error) {
	<-s.release
	return s.got.Write(b)
}

// Whoever does not read what people are told holds nothing up, and is told what was left out.
func TestNobodyReadsStderr(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stuck{release: make(chan struct{})}
		w := NewStderr(out)
		const line = "nobody reads it\n"
		for range 2 * maxWaiting / len(line) {
			if n, err := fmt.Fprint(w, line); n != len(line) || err != nil {
				t.Fatal(n, err)
			}
		}
		began := time.Now()
		if w.Finish(); time.Since(began) != finishLimit {
			t.Errorf("the end took %v", time.Since(began))
		}
		close(out.release)
		synctest.Wait()
		began = time.Now()
		if w.Finish(); time.Since(began) != 0 {
			t.Errorf("the end took %v with nothing left", time.Since(began))
		}
		got := out.got.String()
		kept := strings.Count(got, line)
		want := fmt.Sprintf("%s: %d bytes dropped here", program, 2*maxWaiting-kept*len(line))
		if kept < maxWaiting/len(line) || !strings.Contains(got, want) {
			t.Errorf("people read %d lines, ending in %q, want %q", kept, got[max(0, len(got)-200):], want)
		}
	})
}
