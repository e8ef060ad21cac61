package wire

import (
	"bytes"
	"errors"
	"testing"
)

// A frame that is added stands between two others, wherever these are cut, and no byte of theirs changes.
func TestLines(t *testing.T) {
	const said = "one\ntwo\n\nthree\n"
	for cut := range len(said) + 1 {
		for end := cut; end <= len(said); end++ {
			var out bytes.Buffer
			l := &Lines{Out: &out}
			for i, part := range []string{said[:cut], "ADDED\n", said[cut:end], said[end:]} {
				if i == 1 {
					if err := l.Add([]byte(part)); err != nil {
						t.Fatal(err)
					}
				} else if n, err := l.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatalf("%d of %d, %v", n, len(part), err)
				}
			}
			got := out.Bytes()
			at := bytes.Index(got, []byte("ADDED\n"))
			if at < 0 || at > 0 && got[at-1] != '\n' || string(bytes.Replace(got, []byte("ADDED\n"), nil, 1)) != said {
				t.Fatalf("cut at %d and %d: %q", cut, end, got)
			}
		}
	}
	broken := errors.New("broken")
	l := &Lines{Out: failing{broken}}
	if _, err := l.Write([]byte("x")); !errors.Is(err, broken) {
		t.Error(err)
	}
	if err := l.Add([]byte("y\n")); err != nil { // it waits
		t.Error(err)
	}
	if _, err := l.Write([]byte("\nz\n")); !errors.Is(err, broken) {
		t.Error(err)
	}
}
