package frame

import "testing"

func TestMend(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"whole", `{"a":1}`, `{"a":1}`},
		{"in a string", `{"a":[{"type":"text","text":"hel`, `{"a":[{"type":"text","text":"hel"}]}`},
		{"in an escape", `{"a":"x\`, `{"a":"x"}`},
		{"in a long escape", `{"a":"x\u00`, `{"a":"x"}`},
		{"behind an escape", `{"a":"x\\`, `{"a":"x\\"}`},
		{"behind a value", `{"a":"x"`, `{"a":"x"}`},
		{"in a key", `{"a":1,"b`, `{"a":1,"b`},
		{"no JSON", `x}`, `x}`},
		{"nothing", ``, ``},
	}
	for _, tt := range tests {
		if got := string(Mend([]byte(tt.in))); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func FuzzMend(f *testing.F) {
	f.Add(`{"params":{"prompt":[{"type":"text","text":"a\u00e9\"b"}]}}`, 30)
	f.Add(`[[{"a":"\\"}],1]`, 9)
	f.Fuzz(func(t *testing.T, whole string, n int) {
		if n < 0 || n > len(whole) {
			return
		}
		beginning := whole[:n]
		mended := string(Mend([]byte(beginning)))
		if mended != beginning && !Valid([]byte(mended)) {
			t.Errorf("%q became %q", beginning, mended)
		}
		if Valid([]byte(beginning)) && mended != beginning {
			t.Errorf("a whole frame changed: %q", mended)
		}
	})
}
