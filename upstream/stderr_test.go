package upstream

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestTail(t *testing.T) {
	for _, test := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"lines", "one\r\ntwo\n\n  \nthree", []string{"one", "two", "three"}},
		{"colour", "\x1b[1;31merror\x1b[0m: \x1b]8;;https://e.x\x1b\\link\x1b]8;;\x07\n", []string{"error: link"}},
		{"control", "a\x00b\x07\tc\u0085\n", []string{"ab c"}},
		{"not UTF-8", "a\xff\xfeb\n", []string{"a\uFFFDb"}},
		{"one line without end", strings.Repeat("x", tailBytes+5), []string{strings.Repeat("x", tailBytes)}},
		{"begins inside a line", strings.Repeat("x", tailBytes) + "\nlast\n", []string{"last"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			whole, bytewise := newTail(nil, nil), newTail(nil, nil)
			whole.kept.Add([]byte(test.in))
			for i := range test.in {
				bytewise.kept.Add([]byte(test.in[i : i+1]))
			}
			if got := whole.lines(); !slices.Equal(got, test.want) {
				t.Errorf("got %q", got)
			}
			if test.name != "not UTF-8" && test.name != "control" && !slices.Equal(bytewise.lines(), test.want) {
				t.Errorf("a byte at a time: %q", bytewise.lines())
			}
		})
	}
}

// Whatever a harness writes, its last lines are few, short, and safe to show.
func FuzzTail(f *testing.F) {
	f.Add([]byte("error: x\n"), 3)
	f.Add([]byte("\x1b[31m\xc3\x28\r\n\x00"), 1)
	f.Add([]byte(strings.Repeat("line\n", 3000)), 4096)
	f.Fuzz(func(t *testing.T, b []byte, piece int) {
		piece = max(1, piece)
		kept := newTail(nil, nil)
		for chunk := range slices.Chunk(b, piece) {
			kept.kept.Add(chunk)
		}
		if kept.kept.Size() > tailBytes {
			t.Fatalf("kept %d bytes", kept.kept.Size())
		}
		lines := kept.lines()
		if len(lines) > tailLines {
			t.Fatalf("%d lines", len(lines))
		}
		for _, line := range lines {
			bad := strings.IndexFunc(line, func(r rune) bool { return r != '\t' && unicode.IsControl(r) })
			if line == "" || !utf8.ValidString(line) || bad >= 0 {
				t.Fatalf("line %q", line)
			}
		}
	})
}
