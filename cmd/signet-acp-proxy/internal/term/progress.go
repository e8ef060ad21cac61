package term

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

// A Progress is a line on a terminal that says what is being done; nothing is printed elsewhere. Its methods may be
// called from several goroutines.
type Progress struct {
	screen Screen
	show   bool

	mu      sync.Mutex // guards what follows
	written bool       // the line is not empty
	last    time.Time
	began   time.Time // the first Share
}

// NewProgress makes a Progress on a writer.
func NewProgress(w io.Writer) *Progress { return &Progress{screen: On(w), show: IsPerson(w)} }

// Shown reports whether the line is printed.
func (p *Progress) Shown() bool { return p.show }

// Step says what is being done now.
func (p *Progress) Step(what string) { p.write(what+" …", true) }

// Share says how much of some work is done, and how long the rest takes if it goes on like that.
func (p *Progress) Share(what string, done, total int64) {
	p.mu.Lock()
	if p.began.IsZero() {
		p.began = time.Now()
	}
	took := time.Since(p.began)
	p.mu.Unlock()
	text := fmt.Sprintf("%s: %d %%", what, 100*done/max(total, 1))
	if left := took.Seconds() * float64(total-done) / float64(max(done, 1)); took > settled && done > 0 {
		if text += fmt.Sprintf(", about %.0f s left", left); left > 90 {
			text = fmt.Sprintf("%s: %d %%, about %.0f min left", what, 100*done/total, left/60)
		}
	}
	p.write(text, false)
}

// settled is after how long the pace so far says something about the rest.
const settled = 2 * time.Second

// Reader returns r, of size bytes, and shows how far it has been read.
func (p *Progress) Reader(what string, r io.Reader, size int64) io.Reader {
	return &progressReader{p: p, what: what, r: r, size: size}
}

type progressReader struct {
	p          *Progress
	what       string
	r          io.Reader
	done, size int64
}

func (r *progressReader) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	r.done += int64(n)
	r.p.Share(r.what, r.done, r.size)
	return n, err
}

// repaint is how often Share updates the line.
const repaint = 100 * time.Millisecond

func (p *Progress) write(text string, atOnce bool) {
	if !p.show {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !atOnce && time.Since(p.last) < repaint {
		return
	}
	p.last, p.written = time.Now(), true
	text = chars.Printable(text)
	if p.screen.Width > 1 {
		text = Cut(text, p.screen.Width-1)
	}
	fmt.Fprint(p.screen.W, "\r\x1b[K"+p.screen.Paint(Faint, text))
}

// Done removes the line.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.written {
		fmt.Fprint(p.screen.W, "\r\x1b[K")
		p.written = false
	}
}
