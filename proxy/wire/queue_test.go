package wire

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A waiting is a held frame that leaves when a test says so.
type waiting struct {
	line      string
	release   chan struct{}
	forwarded bool
}

func newWaiting(line string) *waiting { return &waiting{line: line, release: make(chan struct{})} }

func (w *waiting) Size() int { return len(w.line) }

func (w *waiting) Resolve() ([][]byte, func()) {
	<-w.release
	half := len(w.line) / 2
	return [][]byte{[]byte(w.line[:half]), []byte(w.line[half:])}, func() { w.forwarded = true }
}

func (w *waiting) leave() { close(w.release) }

func hold(t *testing.T, q *Queue, h HeldFrame) {
	t.Helper()
	if err := q.Hold(h); err != nil {
		t.Fatal(err)
	}
}

// Whatever comes behind a held frame leaves behind it, as it came, held frames among it too.
func TestQueueOrder(t *testing.T) {
	var out bytes.Buffer
	q := NewQueue(&out)
	write := func(line string) {
		if err := q.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	write("a")
	first, second := newWaiting("b"), newWaiting("e")
	hold(t, q, first)
	write("c")
	write("d")
	hold(t, q, second)
	write("f")
	if !q.Holding() {
		t.Error("nothing is held")
	}
	second.leave()
	first.leave()
	q.Join()
	write("g")
	if out.String() != "abcdefg" || !first.forwarded || !second.forwarded || q.Holding() {
		t.Errorf("%q left; forwarded %t %t, holding %t", out.String(), first.forwarded, second.forwarded, q.Holding())
	}
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
		"a large prompt":   {strings.Repeat("x", maxQueued+1), "y", 0},
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

// A frame that is larger than the whole queue still finds its way when nothing else waits with it.
func TestQueueTakesOneOfAnySize(t *testing.T) {
	var out bytes.Buffer
	q := NewQueue(&out)
	h := newWaiting(strings.Repeat("x", 2*maxQueued))
	hold(t, q, h)
	h.leave()
	q.Join()
	if out.Len() != h.Size() {
		t.Errorf("%d bytes left", out.Len())
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
