package wire

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"weak"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A waiting is a held frame that leaves when a test says so.
type waiting struct {
	line  string
	until chan struct{}
}

func newWaiting(line string) *waiting { return &waiting{line: line, until: make(chan struct{})} }

func (w *waiting) release() [][]byte {
	<-w.until
	half := len(w.line) / 2
	return [][]byte{[]byte(w.line[:half]), []byte(w.line[half:])}
}

func (w *waiting) leave() { close(w.until) }

func hold(t *testing.T, q *Queue, h *waiting) {
	t.Helper()
	if err := q.Hold(len(h.line), h.release); err != nil {
		t.Fatal(err)
	}
}

// Whatever comes behind a held frame leaves behind it, as it came, held frames among it too.
func TestQueueOrder(t *testing.T) {
	var out writes
	q := NewQueue(&out)
	write := func(line string) {
		if err := q.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	write("a")
	first, second := newWaiting("bb"), newWaiting("ee")
	hold(t, q, first)
	write("c")
	write("d")
	hold(t, q, second)
	write("f")
	second.leave()
	first.leave()
	q.Join()
	write("g")
	if !slices.Equal(out, writes{"a", "bb", "cd", "ee", "f", "g"}) {
		t.Errorf("%q left", out)
	}
	gone := weak.Make(first)
	first = nil
	if runtime.GC(); gone.Value() != nil {
		t.Error("what has left is kept")
	}
	runtime.KeepAlive(q)
}

// writes are what was written, one by one.
type writes []string

func (w *writes) Write(b []byte) (int, error) {
	*w = append(*w, string(b))
	return len(b), nil
}

// The reader waits where one frame more, or one byte more, would be too many, and goes on when something has left.
func TestQueueBounds(t *testing.T) {
	for name, tt := range map[string]struct {
		first, piece string
		room         int // pieces that find room behind the first
	}{
		"frames":           {"x", "y", 255},
		"bytes":            {"x", strings.Repeat("y", 1<<20), 7},
		"bytes to the end": {strings.Repeat("x", 1<<20), strings.Repeat("y", 1<<20), 7},
		"a large prompt":   {strings.Repeat("x", 8<<20+1), "y", 0},
		"a large frame":    {"x", strings.Repeat("y", 8<<20+1), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				q := NewQueue(&out)
				first := newWaiting(tt.first)
				hold(t, q, first)
				written := make(chan int, tt.room+1)
				go func() {
					for i := range tt.room + 1 {
						_ = q.Write([]byte(tt.piece))
						written <- i
					}
				}()
				synctest.Wait()
				if len(written) != tt.room {
					t.Errorf("%d pieces found room, want %d", len(written), tt.room)
				}
				first.leave()
				synctest.Wait()
				q.Join()
				if want := tt.first + strings.Repeat(tt.piece, tt.room+1); out.String() != want {
					t.Errorf("%d bytes left, want %d", out.Len(), len(want))
				}
			})
		})
	}
}

// What cannot be written is the same error from then on, and nothing waits for it.
func TestQueueBroken(t *testing.T) {
	broken := errors.New("broken")
	q := NewQueue(failing{broken})
	h := newWaiting("x")
	hold(t, q, h)
	h.leave()
	q.Join()
	if err := q.Write([]byte("y")); !errors.Is(err, broken) || !q.Broken() {
		t.Errorf("writing behind it: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
