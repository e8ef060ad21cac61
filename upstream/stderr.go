package upstream

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

const (
	tailBytes = 8 << 10 // what acpx shows of an agent that fails at start
	tailLines = 20
)

// A tail copies a harness's stderr and keeps its end.
type tail struct {
	from *pipe
	to   io.Writer

	mu   sync.Mutex
	kept []byte
	cut  bool // kept does not begin at the beginning
}

// copy goes on to the end of from, also when nobody wants the bytes: a harness must not block on its own stderr.
func (t *tail) copy() {
	defer t.from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := t.from.Read(buf)
		t.keep(buf[:n])
		if t.to != nil && n > 0 {
			if _, err := t.to.Write(buf[:n]); err != nil {
				t.to = nil
			}
		}
		if err != nil {
			return
		}
	}
}

func (t *tail) keep(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - tailBytes; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
		t.cut = true
	}
}

func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.kept
	if t.cut {
		// The first line lacks its beginning, and may begin inside a character.
		if _, rest, found := bytes.Cut(kept, []byte("\n")); found {
			kept = rest
		}
	}
	var lines []string
	for line := range strings.Lines(string(kept)) {
		line = strings.TrimRight(strings.ToValidUTF8(line, "\uFFFD"), " \t\r\n")
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-tailLines):]
}
