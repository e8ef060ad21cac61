package eventlog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

func newOutput(t *testing.T) *output {
	t.Helper()
	o := &output{file: fileOf(t.TempDir(), "p"), header: header{version, 1, correlation.ProcessInfo{ID: "p"}}}
	t.Cleanup(func() { _ = o.close() })
	return o
}

func (o *output) say(t *testing.T, n int64) {
	t.Helper()
	if rest, err := o.write([]queued{{n: n, at: time.UnixMilli(1), event: correlation.TurnEnded{Turn: int(n)}}}); err != nil {
		t.Fatalf("%d events are not written: %v", len(rest), err)
	}
}

// A file that is there goes on: with one header, and in a line of its own behind one that broke off.
func TestOutputGoesOn(t *testing.T) {
	o := newOutput(t)
	o.say(t, 1)
	if _, err := o.out.WriteString(`{"at":1,"n`); err != nil {
		t.Fatal(err)
	}
	if err := o.close(); err != nil {
		t.Fatal(err)
	}
	o.say(t, 2)
	text, err := os.ReadFile(o.path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
	if len(lines) != 4 || strings.Count(string(text), `"eventlog"`) != 1 || !strings.Contains(lines[0], `"id":"p"`) ||
		!strings.Contains(lines[1], `"n":1`) || !strings.Contains(lines[3], `"n":2`) {
		t.Errorf("the file has\n%s", text)
	}
}

// What was written last is put in front of what the file has, in a new one. The old one is closed, if there is one.
func TestOutputAgain(t *testing.T) {
	for written, want := range map[bool]int{false: 1, true: 2} {
		o := newOutput(t)
		if written {
			o.say(t, 2)
		}
		old := o.out
		if err := o.again([]queued{{n: 1, at: time.UnixMilli(1), event: correlation.TurnEnded{Turn: 1}}}); err != nil {
			t.Errorf("written: %t: %v", written, err)
		}
		if written && !errors.Is(old.Close(), os.ErrClosed) {
			t.Error("the old file is left open")
		}
		text, err := os.ReadFile(o.path)
		if n := strings.Count(string(text), `"n":`); err != nil || n != want || !strings.Contains(string(text), `"n":1`) {
			t.Errorf("written: %t: the file has\n%s%v", written, text, err)
		}
	}
}

// Where what was written last cannot be put in front, the file that there was is written to and synced as before.
func TestOutputStays(t *testing.T) {
	o := newOutput(t)
	o.say(t, 1)
	moved := o.path + ".moved"
	if err := errors.Join(os.Rename(o.path, moved), os.MkdirAll(filepath.Join(o.path, "in the way"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if o.again([]queued{{n: 1, at: time.UnixMilli(1), event: correlation.TurnEnded{Turn: 1}}}) == nil {
		t.Fatal("written in front of a folder")
	}
	o.say(t, 2)
	if o.disk.Load() != o.out {
		t.Error("another file is synced than the one that is written to")
	}
	if text, err := os.ReadFile(moved); err != nil || strings.Count(string(text), `"n":`) != 2 {
		t.Errorf("the file has\n%s%v", text, err)
	}
	if left, _ := filepath.Glob(o.path + ".new"); len(left) > 0 {
		t.Error("what was begun is left")
	}
}

func TestFull(t *testing.T) {
	for err, want := range map[error]bool{syscall.ENOSPC: true, syscall.EDQUOT: true, syscall.EFBIG: true,
		syscall.EACCES: false} {
		if full(&os.PathError{Err: err}) != want {
			t.Errorf("full is %t of %v", !want, err)
		}
	}
}
