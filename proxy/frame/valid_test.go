package frame

import (
	"encoding/json"
	"strings"
	"testing"
)

var texts = []string{
	``, ` `, `{}`, `[]`, " \t\r\n{ } ", `{`, `[`, `}`, `]`, `[}`, `{]`, `{},`, `[1,]`, `[,1]`, `{"a":1,}`, `{,}`,
	`{"a"}`, `{"a":}`, `{"a" 1}`,
	`{a:1}`, `{"a":tru"e"}`, `{"a":1:2}`, `{"a":1 "b":2}`, `[1 2]`, `{1:2}`, `[[],[{}],{"a":[{}]}]`,
	`{"a":{"a":[]},"a":0}`,
	`0`, `-0`, `-`, `01`, `1.`, `.1`, `1.5`, `1e5`, `1E+5`, `1e-`, `1e`, `+1`, `-1.25e-10`, `0x1`, `1a`, `NaN`, `1 `,
	`true`, `false`, `null`, `tru`, `nulll`, `True`, `[true,false,null]`,
	`""`, `"`, `"a`, `"a"b`, `"\"`, `"\\"`, `"\\\"`, `"\u00e9"`, `"\u00g9"`, `"\u00e"`, `"\u`, `"\x"`, `"\`, `"\ud800"`,
	`"\"\\\/\b\f\n\r\t"`,
	"\"\t\"", "\"a long text and then\x1f\"", "\"\x7f\xff\xfe\x80\"", "\"12345678\"", `"12345678`, `"1 3"`, "\"1234567\n\"", "\"\x00\"",
	"\ufeff{}", "{}\x00", "{\"a\":\"b\"}\r\n", "{}\n{}", "\v{}",
	strings.Repeat("[", 9999) + strings.Repeat("]", 9999),
	strings.Repeat("[", 10000) + strings.Repeat("]", 10000),
	strings.Repeat("[", 10001) + strings.Repeat("]", 10001),
	strings.Repeat(`{"a":[`, 5000) + strings.Repeat("]}", 5000),
	strings.Repeat(`{"a":[`, 5000) + strings.Repeat("}]", 5000),
	strings.Repeat("[", 1<<20),
	strings.Repeat(`{"a":`, 1<<20),
}

func TestValid(t *testing.T) {
	for _, text := range texts {
		if got, want := Valid([]byte(text)), json.Valid([]byte(text)); got != want {
			t.Errorf("%.60q: %v", text, got)
		}
	}
}

// TestGarbage hands every function what no peer should send. They must come back, and say so.
func TestGarbage(t *testing.T) {
	for _, text := range texts {
		line, valid := []byte(text), json.Valid([]byte(text))
		var h Head
		Peek(line, false, nil, &h)
		Peek(line, true, nil, &h)
		all := Span{0, len(line)}
		for range Members(line, all) {
		}
		for range Elements(line, all) {
		}
		if _, ok := Find(line); ok != valid {
			t.Errorf("Find of %.60q: %v", text, ok)
		}
		if _, ok := prepend(line, []byte("0")); ok && !valid {
			t.Errorf("Prepend to %.60q", text)
		}
		if _, ok := Append(line, []byte("0"), "a"); ok && !valid {
			t.Errorf("Append to %.60q", text)
		}
		if _, ok := CutString(line, all, 0); ok && !valid {
			t.Errorf("CutString of %.60q", text)
		}
	}
}

func FuzzValid(f *testing.F) {
	for _, text := range texts {
		if len(text) < 100 {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if got, want := Valid(line), json.Valid(line); got != want {
			t.Fatalf("got %v", got)
		}
	})
}

func BenchmarkValid(b *testing.B) {
	for _, c := range []struct{ name, line string }{
		{"200B", update},
		{"64KB", chunk(64<<10, "x")},
		{"64KB-quotes", chunk(64<<10, `some \"code\"\n`)},
		{"64KB-structure", "[" + strings.Repeat(`{"x":12,"y":[3]},`, 4000) + "0]"},
		{"16MB-prompt", chunk(16<<20, `a line of a prompt, with an \"escape\" or two\n`)},
	} {
		b.Run(c.name, func(b *testing.B) {
			line := []byte(c.line)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if !Valid(line) {
					b.Fatal("not valid")
				}
			}
		})
	}
}
