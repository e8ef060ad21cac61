package chars

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestExcerpt(t *testing.T) {
	for _, c := range []struct {
		pieces  []string // a number is so many bytes that are missing
		head    string
		omitted int
		tail    string
	}{
		{nil, "", 0, ""},
		{[]string{"ab", "cd"}, "abcd", 0, ""},
		{[]string{"abcde", "f"}, "abcd", 0, "ef"},
		{[]string{"abcdefg"}, "abcd", 0, "efg"},
		{[]string{"abcdefgh"}, "abcd", 1, "fgh"},
		{[]string{"abcdefg", "h", "ij"}, "abcd", 3, "hij"},
		{[]string{"abcdefghijklmnopqrstuvwxyz", "0"}, "abcd", 20, "yz0"},
		{[]string{"abcé", "x"}, "abc", 0, "éx"},
		{[]string{"abcdéx", "yz"}, "abcd", 2, "xyz"},
		{[]string{"abcdxéyz"}, "abcd", 3, "yz"},
		{[]string{"ab", "7", "c"}, "ab", 7, "c"},
		{[]string{"abcdef", "7", "gh", "ij"}, "abcd", 10, "hij"},
		{[]string{"7", "ab"}, "", 7, "ab"},
	} {
		e := Excerpt{MaxHead: 4, MaxTail: 3}
		for _, piece := range c.pieces {
			var missing int
			if _, err := fmt.Sscan(piece, &missing); err == nil && missing > 0 {
				e.Skip(missing)
			} else {
				fmt.Fprint(&e, piece)
			}
		}
		want := c.head + c.tail
		if c.omitted > 0 {
			want = fmt.Sprintf("%s\n[%d bytes left out …]\n%s", c.head, c.omitted, c.tail)
		}
		if e.String() != want {
			t.Errorf("%q is written as %q, want %q", c.pieces, e.String(), want)
		}
		if string(e.Head) != c.head || e.Omitted != c.omitted || string(e.Tail) != c.tail {
			t.Errorf("%q: %q, %d omitted, %q", c.pieces, e.Head, e.Omitted, e.Tail)
		}
	}
}

// In whatever pieces a text comes, the same is kept of it, and nothing but that is held.
func FuzzExcerpt(f *testing.F) {
	f.Add("aé日😀 and more of it", 3)
	f.Fuzz(func(t *testing.T, text string, size int) {
		text, size = strings.ToValidUTF8(text, "?"), max(1, size%64)
		e := Excerpt{MaxHead: 16, MaxTail: 8}
		for rest := text; rest != ""; {
			n := Boundary(rest, size)
			if n == 0 {
				n = len(rest)
			}
			e.Add([]byte(rest[:n]))
			rest = rest[n:]
		}
		if e.Size()+e.Omitted != len(text) || len(e.Head) > 16 || len(e.Tail) > 8 ||
			!strings.HasPrefix(text, string(e.Head)) || !strings.HasSuffix(text, string(e.Tail)) {
			t.Errorf("%q: %q, %d omitted, %q", text, e.Head, e.Omitted, e.Tail)
		}
		if !bytes.Equal(e.Head, bytes.ToValidUTF8(e.Head, nil)) || !bytes.Equal(e.Tail, bytes.ToValidUTF8(e.Tail, nil)) {
			t.Errorf("%q: half a character in %q or %q", text, e.Head, e.Tail)
		}
	})
}
