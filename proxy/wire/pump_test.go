package wire

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A recorder is a direction that judges a line by its first letter and notes what it is shown.
type recorder struct {
	out     bytes.Buffer
	looked  []string
	stray   bytes.Buffer
	tapping bool
	judged  int
	err     error // of writing
}

func (d *recorder) Judge(b []byte, whole bool) Verdict {
	d.judged++
	if !whole && len(b) < 3 {
		return More
	}
	switch {
	case b[0] == 'h':
		return Hold
	case b[0] == 't':
		return Tap
	case b[0] == 'd':
		return Divert
	case b[0] == 'm' && !whole: // known at its end only
		return More
	case b[0] == 'm':
		return Tap
	}
	return Pass
}

func (d *recorder) TooLong(b []byte) Verdict {
	if b[1] == 't' {
		return Tap
	}
	return Pass
}

func (d *recorder) Write(b []byte) error { d.out.Write(b); return d.err }
func (d *recorder) Held(line []byte) error {
	d.out.Write(line)
	d.looked = append(d.looked, string(line))
	return d.err
}
func (d *recorder) Tapped(piece []byte, first, last bool) {
	if d.tapping == first {
		d.looked = append(d.looked, "a piece out of turn")
	}
	d.tapping = !last
	if first {
		d.looked = append(d.looked, string(piece))
	} else {
		d.looked[len(d.looked)-1] += string(piece)
	}
	if !bytes.Contains(d.out.Bytes(), piece) {
		d.looked = append(d.looked, "a piece that has not left")
	}
}
func (d *recorder) Stray(piece []byte, first bool) {
	d.stray.Write(piece)
}

// want is what a pump must do with input, said in the plainest way.
func want(input []byte) (out, stray string, looked []string) {
	for _, line := range bytes.SplitAfter(input, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		switch line[0] {
		case 'd':
			stray += strings.TrimSuffix(string(line), "\n") + "\n"
			continue
		case 'h', 't', 'm':
			looked = append(looked, string(line))
		}
		out += string(line)
	}
	return out, stray, looked
}

func checkPump(t *testing.T, input []byte, src io.Reader) {
	t.Helper()
	d := &recorder{}
	if err := Pump(src, d); err != nil {
		t.Fatal(err)
	}
	out, stray, looked := want(input)
	if d.out.String() != out {
		t.Errorf("forwarded %d bytes, want %d", d.out.Len(), len(out))
	}
	if d.stray.String() != stray {
		t.Errorf("diverted %q, want %q", clip(d.stray.String()), clip(stray))
	}
	if len(d.looked) != len(looked) {
		t.Fatalf("looked at %d lines, want %d", len(d.looked), len(looked))
	}
	for i := range looked {
		wanted := looked[i]
		if d.looked[i] != wanted {
			t.Errorf("line %d: looked at %q (%d), want %q (%d)", i, clip(d.looked[i]), len(d.looked[i]), clip(wanted),
				len(wanted))
		}
	}
}

func clip(s string) string { return s[:min(len(s), 60)] }

func TestPump(t *testing.T) {
	long := strings.Repeat("x", 3*bufferSize+17)
	tests := []struct{ name, input string }{
		{"nothing", ""},
		{"one line", "pass\n"},
		{"no line end", "pass"},
		{"held without a line end", "hold"},
		{"tapped without a line end", "tap"},
		{"more without a line end", "m"},
		{"diverted without a line end", "d"},
		{"empty lines", "\n\n\n"},
		{"each kind", "pass\ntap\nhold\ndivert\nmore\npass\n"},
		{"long passed", "p" + long + "\npass\n"},
		{"long held", "h" + long + "\npass\n"},
		{"very long held", "h" + strings.Repeat("x", 3*blockSize+5) + "\npass\n"},
		{"long tapped", "t" + long + "\ntap\n"},
		{"long undecided", "m" + long + "\ntap\n"},
		{"long diverted", "d" + long + "\npass\n"},
		{"long in a row", "t" + long + "\nh" + long + "\nm" + long + "\np" + long + "\nd" + long + "\nm"},
		{"long held at the end", "h" + long},
		{"long undecided at the end", "m" + long},
		{"long diverted at the end", "d" + long},
		{"boundary", strings.Repeat("t"+strings.Repeat("z", 1000)+"\n", 700)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			input := []byte(tt.input)
			checkPump(t, input, bytes.NewReader(input))
			checkPump(t, input, iotest.DataErrReader(bytes.NewReader(input)))
			checkPump(t, input, iotest.HalfReader(bytes.NewReader(input)))
			if len(input) < 1000 {
				checkPump(t, input, iotest.OneByteReader(bytes.NewReader(input)))
			}
		})
	}
}

// What cannot be written ends the pump, wherever in a frame that is.
func TestPumpBroken(t *testing.T) {
	long := strings.Repeat("x", bufferSize)
	for _, input := range []string{
		"pass\nhold\n", "pass", "tap", "hold\n", "hold", "p" + long + "\n", "h" + long + "\n", "m" + long + "\n", "m" + long,
	} {
		d := &recorder{err: io.ErrClosedPipe}
		if err := Pump(strings.NewReader(input), d); err != io.ErrClosedPipe || d.out.Len() > bufferSize+2 {
			t.Errorf("%.6q: %v, behind %d bytes", input, err, d.out.Len())
		}
	}
	d := &recorder{}
	read := io.MultiReader(strings.NewReader("pass\npa"), iotest.ErrReader(io.ErrNoProgress))
	if err := Pump(read, d); err != io.ErrNoProgress || d.out.String() != "pass\npa" {
		t.Errorf("%v behind %q", err, d.out.String())
	}
}

// A long frame is judged anew only when it has doubled.
func TestPumpJudgesSeldom(t *testing.T) {
	d := &recorder{}
	src := &sliced{data: []byte("m" + strings.Repeat("x", 1<<20) + "\n"), lengths: []byte{255}}
	if err := Pump(src, d); err != nil || d.judged > 256+4+1 {
		t.Errorf("%v; judged %d times", err, d.judged)
	}
}

// A frame that is too long to hold passes as it is, and may be looked at then.
func TestPumpTooLongToHold(t *testing.T) {
	for begins, looked := range map[string]int{"h": 1, "ht": 2} {
		line := append(append([]byte(begins), bytes.Repeat([]byte("x"), 64<<20+1-len(begins)-1)...), '\n')
		input := append(line, "tap\n"...)
		d := &recorder{}
		if err := Pump(bytes.NewReader(input), d); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(d.out.Bytes(), input) {
			t.Errorf("%s: bytes were changed", begins)
		}
		if len(d.looked) != looked || d.looked[looked-1] != "tap\n" || looked == 2 && d.looked[0] != string(line) {
			t.Errorf("%s: looked at %d lines, want %d", begins, len(d.looked), looked)
		}
	}
}

// sliced returns its data in reads of the lengths that the pattern names.
type sliced struct {
	data    []byte
	lengths []byte
	at      int
}

func (s *sliced) Read(b []byte) (int, error) {
	if len(s.data) == 0 {
		return 0, io.EOF
	}
	n := 1
	if len(s.lengths) > 0 {
		n = int(s.lengths[s.at%len(s.lengths)]) + 1
		s.at++
	}
	n = copy(b, s.data[:min(n, len(s.data))])
	s.data = s.data[n:]
	return n, nil
}

func FuzzPump(f *testing.F) {
	f.Add([]byte("pass\ntap\nhold\ndivert\nmore\n"), []byte{0, 3, 7})
	f.Add([]byte("mm\nm\nt\nh"), []byte{1})
	f.Add([]byte("\n\nd\n{}\n"), []byte{255})
	f.Fuzz(func(t *testing.T, input, lengths []byte) {
		checkPump(t, input, &sliced{data: input, lengths: lengths})
	})
}
