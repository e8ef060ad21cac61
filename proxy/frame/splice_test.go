package frame

import (
	"encoding/json"
	"reflect"
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
			check("Prepend", Prepend, c.prepended)
			check("Append", Append, c.appended)
		})
	}
	for _, bad := range []string{``, `x`, `1,2`, "[\n]"} {
		if _, ok := Prepend([]byte(`[]`), []byte(bad)); ok {
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

// equal compares two JSON texts by value, numbers by their spelling.
func equal(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}
