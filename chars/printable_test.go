package chars

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

func TestPrintable(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "Robin's 日本語 é 😀", "Robin's 日本語 é 😀"},
		{"colours and cursors", "a\x1b[31mb\x1b[2Jc\x1b]0;title\x07d", "a[31mb[2Jc]0;titled"},
		{"C1", "a\u009b2Jb\u0090c\u0085d", "a2Jbc d"},
		{"C1 as bytes", "a\x9b2Jb", "a\ufffd2Jb"},
		{"line ends", " a\r\nb\u2028c\td ", "a  b c d"},
		{"back over it", "abc\b\b\bxyz\x7f", "abcxyz"},
		{"turned around", "a\u202egnp.exe\u2066b\u200f", "agnp.exeb"},
		{"not to be seen", "a\u200bb\ufeffc\U000e0041d", "abcd"},
	} {
		if got := Printable(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzEscapeJSON(f *testing.F) {
	f.Add("a\u009b\u202e\U000e0041\x7f\x1b\xff\"\\")
	f.Fuzz(func(t *testing.T, text string) {
		plain, err := json.Marshal(map[string]string{"k": text})
		if err != nil {
			t.Fatal(err)
		}
		got := EscapeJSON(plain)
		if at := strings.IndexFunc(string(got), func(r rune) bool {
			return unicode.IsControl(r) ||
				unicode.Is(unicode.Cf, r)
		}); at >= 0 {
			t.Errorf("%q keeps %q", got, got[at:])
		}
		var was, is map[string]string
		if json.Unmarshal(plain, &was) != nil || json.Unmarshal(got, &is) != nil || was["k"] != is["k"] {
			t.Errorf("%q is no longer %q", got, plain)
		}
	})
}
