package frame

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestArrayEdits(t *testing.T) {
	const elem = `{"e":1}`
	for _, c := range []struct {
		name, line, path string
		prepended        string // empty: refused
		appended         string
	}{
		{"filled", `{"a":{"p":[1,2]}} `, "a.p", `{"a":{"p":[{"e":1},1,2]}} `, `{"a":{"p":[1,2,{"e":1}]}} `},
		{"spaced", "{ \"p\" : [ 1.0 , \"]\" ] }\r\n", "p", "{ \"p\" : [{\"e\":1}, 1.0 , \"]\" ] }\r\n", "{ \"p\" : [ 1.0 , \"]\" ,{\"e\":1}] }\r\n"},
		{"empty", `{"p":[ ]}`, "p", `{"p":[{"e":1} ]}`, `{"p":[ {"e":1}]}`},
		{"null", `{"p":null,"q":0}`, "p", ``, `{"p":[{"e":1}],"q":0}`},
		{"missing", `{"a":{"q":0}}`, "a.p", ``, `{"a":{"q":0,"p":[{"e":1}]}}`},
		{"missing in empty", `{"a":{ }}`, "a.p", ``, `{"a":{ "p":[{"e":1}]}}`},
		{"missing at top", `{}`, "p\"q", ``, `{"p\"q":[{"e":1}]}`},
		{"no parent", `{"q":0}`, "a.p", ``, ``},
		{"parent no object", `{"a":[]}`, "a.p", ``, ``},
		{"no array", `{"p":{}}`, "p", ``, ``},
		{"no array but a text", `{"p":"[]"}`, "p", ``, ``},
		{"escaped key", `{"\u0070":[0]}`, "p", `{"\u0070":[{"e":1},0]}`, `{"\u0070":[0,{"e":1}]}`},
		{"last duplicate", `{"p":[0],"p":[1]}`, "p", `{"p":[0],"p":[{"e":1},1]}`, `{"p":[0],"p":[1,{"e":1}]}`},
		{"last duplicate is null", `{"p":[0],"p":null}`, "p", ``, `{"p":[0],"p":[{"e":1}]}`},
		{"top", `[0]`, "", `[{"e":1},0]`, `[0,{"e":1}]`},
		{"top null", `null`, "", ``, ``},
		{"not valid", `{"p":[0],}`, "p", ``, ``},
		{"cut off", `{"p":[0]`, "p", ``, ``},
		{"followed", `{"p":[0]} {}`, "p", ``, ``},
		{"nothing", ``, "p", ``, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := func(what string, edit func(line, elem []byte, path ...string) ([]byte, bool), want string) {
				got, ok := edit([]byte(c.line), []byte(elem), split(c.path)...)
				if string(got) != want || ok != (want != "") {
					t.Errorf("%s: got %q, %v, want %q", what, got, ok, want)
				}
			}
			check("PrependParts", prepend, c.prepended)
			check("Append", Append, c.appended)
		})
	}
	for _, bad := range []string{``, `x`, `1,2`, "[\n]"} {
		if _, ok := prepend([]byte(`[]`), []byte(bad)); ok {
			t.Errorf("Prepend takes %q", bad)
		}
		if _, ok := Append([]byte(`[]`), []byte(bad)); ok {
			t.Errorf("Append takes %q", bad)
		}
	}
}

func TestCutString(t *testing.T) {
	for _, c := range []struct {
		name, text string
		n          int
		want       string
		ok         bool
	}{
		{"none", `"abc"`, 0, `"abc"`, true},
		{"some", `"abc\u00e9"`, 2, `"c\u00e9"`, true},
		{"all", `"abc"`, 3, `""`, true},
		{"too many", `"abc"`, 4, ``, false},
		{"fewer than none", `"abc"`, -1, ``, false},
		{"escapes", `"\n\"\/\\\t"`, 3, `"\\\t"`, true},
		{"two bytes", `"\u00e9é!"`, 4, `"!"`, true},
		{"inside an escape's bytes", `"\u00e9!"`, 1, ``, false},
		{"inside a character", `"é!"`, 1, ``, false},
		{"pair", `"\ud83d\ude00!"`, 4, `"!"`, true},
		{"inside a pair", `"\ud83d\ude00!"`, 3, ``, false},
		{"lone surrogate", `"\ud83d!\ude00"`, 3, `"!\ude00"`, true},
		{"no UTF-8", "\"\xff\xfea\"", 1, "\"\xfea\"", true},
		{"no text", `{"a":1}`, 1, ``, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			head, tail := `{"t": `, " }\r\n"
			line := []byte(head + c.text + tail)
			got, ok := CutString(line, Span{len(head), len(head) + len(c.text)}, c.n)
			want := ""
			if c.ok {
				want = head + c.want + tail
			}
			if ok != c.ok || string(got) != want {
				t.Fatalf("got %q, %v", got, ok)
			}
		})
	}
	for _, at := range []Span{{0, 1}, {1, 1}, {1, 3}, {5, 8}, {6, 4}, {-1, 4}, {6, 99}, {99, 100}} {
		if _, ok := CutString([]byte(`{"a":"bc"}`), at, 0); ok {
			t.Errorf("cuts at %v", at)
		}
	}
	if _, ok := CutString([]byte(`{"a":"bc"`), Span{5, 9}, 1); ok {
		t.Error("cuts in a frame that is not valid")
	}
}

func TestReplace(t *testing.T) {
	line := []byte(`{"a":1}`)
	if got := Replace(line, Span{5, 6}, []byte("null")); string(got) != `{"a":null}` || string(line) != `{"a":1}` {
		t.Fatalf("got %s from %s", got, line)
	}
}

const ours = `{"type":"text","text":"ours"}`

// FuzzArrayEdits checks that an edit does what the same change to the decoded frame does, and that the frame it came
// from is left when the bytes that were put in are taken out again.
func FuzzArrayEdits(f *testing.F) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}`,
		`{"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`, `{"params":{"prompt":null}}`, `{"params":{ }}`,
		`{"params":[]}`,
		"{ \"params\" : { \"prompt\" : [ 1 , 2 ] , \"\\u0070rompt\":[ ]}}\r\n", `[1]`, `null`, `{"":[{}]}`,
	} {
		for _, path := range []string{"params.prompt", "params.mcpServers", "", "."} {
			f.Add([]byte(line), path)
		}
	}
	f.Fuzz(func(t *testing.T, line []byte, path string) {
		if !plainPath(path) {
			return
		}
		checkArrayEdits(t, line, split(path))
	})
}

func checkArrayEdits(t failer, line []byte, path []string) {
	t.Helper()
	raw, found := oracleFind(line, path)
	var array []json.RawMessage
	isArray := found && json.Unmarshal(raw, &array) == nil && raw[0] == '['

	got, ok := prepend(line, []byte(ours), path...)
	if ok != isArray {
		t.Fatalf("Prepend at %q in %q: %v", path, line, ok)
	}
	if ok {
		checkEdit(t, line, got, path, append([]json.RawMessage{json.RawMessage(ours)}, array...))
	}

	parent, hasParent := []byte(nil), false
	if len(path) > 0 {
		parent, hasParent = oracleFind(line, path[:len(path)-1])
		hasParent = hasParent && parent[0] == '{'
	}
	got, ok = Append(line, []byte(ours), path...)
	if want := isArray || hasParent && (!found || string(raw) == "null"); ok != want {
		t.Fatalf("Append at %q in %q: %v", path, line, ok)
	}
	if ok {
		checkEdit(t, line, got, path, append(array, json.RawMessage(ours)))
	}
}

func checkEdit(t failer, line, edited []byte, path []string, want []json.RawMessage) {
	t.Helper()
	raw, _ := oracleFind(edited, path)
	var array []json.RawMessage
	if !json.Valid(edited) || json.Unmarshal(raw, &array) != nil || !reflect.DeepEqual(array, want) {
		t.Fatalf("%q became %q", line, edited)
	}
	// What stands before the change and what stands behind it make up the line, but for a null.
	head, tail := 0, 0
	for head < len(line) && line[head] == edited[head] {
		head++
	}
	for tail < len(line)-head && line[len(line)-1-tail] == edited[len(edited)-1-tail] {
		tail++
	}
	if gone := line[head : len(line)-tail]; len(gone) > 0 && string(gone) != "null" {
		t.Fatalf("%q became %q: %q is gone", line, edited, gone)
	}
}

func FuzzCutString(f *testing.F) {
	for _, text := range texts {
		if decoded, ok := String([]byte(text)); ok {
			f.Add([]byte(text), len(decoded)/2)
		}
	}
	f.Add([]byte(`"<memory>\n\ud83d\ude00\u003c/memory>\n\nhello"`), 22)
	f.Fuzz(func(t *testing.T, token []byte, n int) {
		line := slices.Concat([]byte(`{"t":`), token, []byte(", \"u\":1}\r\n"))
		at := Span{5, 5 + len(token)}
		text, isText := String(token)
		got, ok := CutString(line, at, n)
		if want := isText && atCharacter(text, n); ok != want {
			t.Fatalf("got %v", ok)
		}
		if !ok {
			return
		}
		tail := len(line) - at.End
		rest := got[at.Start : len(got)-tail]
		if left, ok := String(rest); !ok || left != text[n:] {
			t.Fatalf("left is %q", rest)
		}
		if !json.Valid(got) || !bytes.HasPrefix(got, line[:at.Start+1]) || !bytes.HasSuffix(line, got[at.Start+1:]) {
			t.Fatalf("%q became %q", line, got)
		}
	})
}

// atCharacter reports whether a character of text, or its end, is n bytes in.
func atCharacter(text string, n int) bool {
	if n == len(text) {
		return true
	}
	for i := range text {
		if i == n {
			return true
		}
	}
	return false
}

func BenchmarkPrepend(b *testing.B) {
	for _, c := range []struct {
		name string
		size int
	}{{"1KB", 1 << 10}, {"16MB", 16 << 20}} {
		b.Run(c.name, func(b *testing.B) {
			line := []byte(`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s",` +
				`"prompt":[{"type":"text","text":"` +
				strings.Repeat(`a line of a prompt, with an \"escape\" or two\n`, c.size/48) + `"}]}}`)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := prepend(line, []byte(ours), "params", "prompt"); !ok {
					b.Fatal("refused")
				}
			}
		})
	}
}

// prepend is PrependParts in one piece, at a path.
func prepend(line, elem []byte, path ...string) (edited []byte, ok bool) {
	at, _ := Find(line, path...)
	parts, ok := PrependParts(line, elem, at)
	return bytes.Join(parts, nil), ok
}
