package frame

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/e2e/realtext"
)

// split makes a path of keys that are joined by dots.
func split(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path, ".")
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, line, path, want string
		ok                     bool
	}{
		{"nested", `{"a":{"b":[1, 2 ]},"b":0}`, "a.b", `[1, 2 ]`, true},
		{"spaced", "{ \"a\" :\t-1.5e+3 }\r\n", "a", `-1.5e+3`, true},
		{"no path", " [1] \r\n", "", `[1]`, true},
		{"no path, a number", "12\n", "", `12`, true},
		{"escaped", `{"a\u002f\"":"\""}`, `a/"`, `"\""`, true},
		{"last duplicate", `{"a":1,"\u0061":2}`, "a", `2`, true},
		{"last duplicate hides the path", `{"a":{"b":1},"a":null}`, "a.b", ``, false},
		{"exact case", `{"A":1}`, "a", ``, false},
		{"through an array", `{"a":[{"b":1}]}`, "a.b", ``, false},
		{"through a text", `{"a":"{\"b\":1}"}`, "a.b", ``, false},
		{"empty key", `{"":1}`, ".", ``, false},
		{"empty", `{}`, "a", ``, false},
		{"not valid behind it", `{"a":1,"b":01}`, "a", ``, false},
		{"cut off", `{"a":1`, "a", ``, false},
		{"nothing", ``, "", ``, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			at, ok := Find([]byte(c.line), split(c.path)...)
			if ok != c.ok || string(at.Of([]byte(c.line))) != c.want {
				t.Fatalf("got %q, %v", at.Of([]byte(c.line)), ok)
			}
		})
	}
}

func TestIterators(t *testing.T) {
	line := []byte(` { "a" : [ 1 , "x,]" , [ ] ] , "\u0062" : null,"a":{}}`)
	var keys, values, elements []string
	for key, at := range Members(line, Span{1, len(line)}) {
		keys = append(keys, string(key))
		values = append(values, string(at.Of(line)))
		for at := range Elements(line, at) {
			elements = append(elements, string(at.Of(line)))
		}
	}
	if !slices.Equal(keys, []string{"a", "b", "a"}) || !slices.Equal(values,
		[]string{`[ 1 , "x,]" , [ ] ]`, `null`, `{}`}) ||
		!slices.Equal(elements, []string{`1`, `"x,]"`, `[ ]`}) {
		t.Fatalf("%q %q %q", keys, values, elements)
	}
	for range Members(line, Span{10, 29}) {
		t.Fatal("an array has no members")
	}
	for range Elements(line, Span{1, len(line)}) {
		t.Fatal("an object has no elements")
	}
	for range Members(line, Span{}) {
		t.Fatal("nothing has no members")
	}
}

func TestString(t *testing.T) {
	for _, c := range []struct {
		raw, want string
		ok        bool
	}{
		{`"abc"`, "abc", true},
		{`""`, "", true},
		{`"\"\\\/\b\f\n\r\té\u00E9"`, "\"\\/\b\f\n\r\téé", true},
		{`"\ud83d\ude00"`, "😀", true},
		{`"\ud83d\ud83d\ude00\ude00"`, "\uFFFD😀\uFFFD", true},
		{`"\u0000"`, "\x00", true},
		{"\"a\xffb\"", "a\xffb", true},
		{`"\x"`, "", false},
		{`"\u12"`, "", false},
		{`"\u12g4"`, "", false},
		{"\"\t\"", "", false},
		{`"a"b"`, "", false},
		{`"a`, "", false},
		{`"`, "", false},
		{`"\"`, "", false},
		{`a`, "", false},
		{``, "", false},
		{` "a"`, "", false},
		{`"a" `, "", false},
	} {
		if got, ok := String([]byte(c.raw)); got != c.want || ok != c.ok {
			t.Errorf("%s: got %q, %v", c.raw, got, ok)
		}
	}
}

// oracleFind walks with full parses. Not for paths that have U+FFFD, which encoding/json puts in place of what is no
// UTF-8.
func oracleFind(line []byte, path []string) ([]byte, bool) {
	var value json.RawMessage
	if json.Unmarshal(line, &value) != nil {
		return nil, false
	}
	for _, key := range path {
		var object map[string]json.RawMessage
		if value[0] != '{' || json.Unmarshal(value, &object) != nil {
			return nil, false
		}
		var ok bool
		if value, ok = object[key]; !ok {
			return nil, false
		}
	}
	return bytes.Trim(value, " \t\r\n"), true
}

func plainPath(path string) bool {
	return utf8.ValidString(path) && !strings.ContainsRune(path, utf8.RuneError)
}

// quoted is a prompt of such a text.
func quoted(text string) []byte {
	said, _ := json.Marshal(text) // a string always encodes
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s",`+
		`"prompt":[{"type":"text","text":%s}]}}`, said)
}

func FuzzFind(f *testing.F) {
	for _, c := range heads {
		f.Add([]byte(c.line), "params.update")
	}
	for _, text := range texts {
		if len(text) < 100 {
			f.Add([]byte(text), "a.a")
		}
	}
	for _, text := range realtext.Seeds(f) {
		f.Add(quoted(text), "params.prompt")
	}
	f.Fuzz(func(t *testing.T, line []byte, path string) {
		if !plainPath(path) {
			return
		}
		checkFind(t, line, split(path))
	})
}

// checkFind compares Find, and the iterators over what it found, with full parses.
func checkFind(t failer, line []byte, path []string) {
	t.Helper()
	at, ok := Find(line, path...)
	want, found := oracleFind(line, path)
	if ok != found || !bytes.Equal(at.Of(line), want) {
		t.Fatalf("%q in %q: got %q, %v, want %q, %v", path, line, at.Of(line), ok, want, found)
	}
	if !ok {
		return
	}
	var array []json.RawMessage
	if want[0] == '[' && json.Unmarshal(want, &array) != nil {
		t.Fatalf("%q is no array", want)
	}
	same := func(a Span, b json.RawMessage) bool { return bytes.Equal(a.Of(line), b) }
	if got := slices.Collect(Elements(line, at)); !slices.EqualFunc(got, array, same) {
		t.Fatalf("elements are %v in %q", got, want)
	}
	var object map[string]json.RawMessage
	if want[0] == '{' && json.Unmarshal(want, &object) != nil {
		t.Fatalf("%q is no object", want)
	}
	members := map[string]Span{} // the last of duplicates stays
	for key, at := range Members(line, at) {
		members[string([]rune(string(key)))] = at
	}
	if !maps.EqualFunc(members, object, same) {
		t.Fatalf("members are %v in %q", members, want)
	}
}

func FuzzString(f *testing.F) {
	for _, text := range texts {
		if strings.HasPrefix(text, `"`) {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, ok := String(raw)
		var want *string
		valid := json.Unmarshal(raw, &want) == nil && want != nil && raw[0] == '"' && raw[len(raw)-1] == '"'
		if ok != valid || ok && string([]rune(got)) != *want {
			t.Fatalf("got %q, %v", got, ok)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	for _, c := range []struct {
		name string
		line string
	}{
		{"200B", update},
		{"16MB", chunk(16<<20, `a line of a prompt, with an \"escape\" or two\n`)},
	} {
		b.Run(c.name, func(b *testing.B) {
			line := []byte(c.line)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := Find(line, "params", "update", "content", "text"); !ok {
					b.Fatal("not found")
				}
			}
		})
	}
}
