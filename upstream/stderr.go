package upstream

import (
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

const (
	tailBytes = 8 << 10 // as much as acpx shows of an agent that fails at its start
	tailLines = 20
)

// A tail copies a harness's stderr and keeps its end.
type tail struct {
	from *pipe
	to   io.Writer

	done chan struct{} // closed when copy has returned

	mu   sync.Mutex // protects what follows
	kept chars.Excerpt
}

func newTail(from *pipe, to io.Writer) *tail {
	return &tail{from: from, to: to, done: make(chan struct{}), kept: chars.Excerpt{MaxTail: tailBytes}}
}

// copy copies from to to until from ends, also if a write has failed: a harness must not block on its stderr.
func (t *tail) copy() {
	defer close(t.done)
	defer t.from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := t.from.Read(buf)
		t.mu.Lock()
		t.kept.Add(buf[:n])
		t.mu.Unlock()
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

// lines returns what was kept as lines for people, without terminal control sequences and empty lines.
func (t *tail) lines() []string {
	t.mu.Lock()
	kept := string(t.kept.Tail)
	if _, rest, found := strings.Cut(kept, "\n"); t.kept.Omitted > 0 && found {
		kept = rest // the first line lacks its beginning
	}
	t.mu.Unlock()
	var lines []string
	for line := range strings.Lines(escapes().ReplaceAllString(strings.ToValidUTF8(kept, "\uFFFD"), "")) {
		line = chars.Printable(line)
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-tailLines):]
}

var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(\x07|\x1b\\\\)")
})
