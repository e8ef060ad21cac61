package frame

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

func TestAdd(t *testing.T) {
	for _, c := range []struct{ name, line, path, want string }{
		{"filled", `{"a": { "b":1 } }` + "\r\n", "a.p", `{"a": { "b":1 ,"p":{"v":1}} }` + "\r\n"},
		{"empty", `{"a":{ }}`, "a.p", `{"a":{ "p":{"v":1}}}`},
		{"top", `{}`, "p", `{"p":{"v":1}}`},
		{"made on the way", `{"a":{"x":"\u00e9"}}`, "a.b.c", `{"a":{"x":"\u00e9","b":{"c":{"v":1}}}}`},
		{"null on the way", `{"a":null,"x":0}`, "a.b.c", `{"a":{"b":{"c":{"v":1}}},"x":0}`},
		{"null in its place", `{"a":{"b":null}}`, "a.b", `{"a":{"b":{"v":1}}}`},
		{"there already", `{"a":{"b":0}}`, "a.b", ``},
		{"there, escaped", `{"\u0061":{"b":false}}`, "a.b", ``},
		{"last duplicate", `{"a":{"b":1},"a":{}}`, "a.b", `{"a":{"b":1},"a":{"b":{"v":1}}}`},
		{"an array in the way", `{"a":[]}`, "a.b.c", ``},
		{"a text in the way", `{"a":{"b":"{}"}}`, "a.b.c", ``},
		{"no object", `[]`, "a", ``},
		{"null", `null`, "a", ``},
		{"no path", `{}`, "", ``},
		{"not valid", `{"a":1,}`, "p", ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := Add([]byte(c.line), []byte(`{"v":1}`), split(c.path)...)
			if string(got) != c.want || ok != (c.want != "") {
				t.Errorf("got %q, %v, want %q", got, ok, c.want)
			}
		})
	}
	if _, ok := Add([]byte(`{}`), []byte("[\n]"), "p"); ok {
		t.Error("a value on two lines is taken")
	}
}

// What was added is found there, and without it the frame is what it was.
func FuzzAdd(f *testing.F) {
	for _, line := range []string{`{"a":{"b":{}}}`, `{"a":null}`, `{}`, `{"a":{"x":1} , "a":{ } }`, `{"a":[]}`,
		`{"\u0061":{"b":null}}`, `[]`, `{"a":{"b":{"c":1}}}`} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		value := []byte(`"added"`)
		path := []string{"a", "b", "c"}
		before := bytes.Clone(line)
		got, ok := Add(line, value, path...)
		if !bytes.Equal(line, before) {
			t.Fatal("the line was changed")
		}
		if !ok {
			return
		}
		at, found := Find(got, path...)
		if !found || !bytes.Equal(at.Of(got), value) {
			t.Fatalf("%q: not in %q", line, got)
		}
		var was, is map[string]any
		if json.Unmarshal(line, &was) != nil || json.Unmarshal(got, &is) != nil {
			return // a number that no float holds
		}
		for key, v := range was {
			if key != "a" && !reflect.DeepEqual(v, is[key]) {
				t.Fatalf("%q: %q changed in %q", line, key, got)
			}
		}
	})
}
