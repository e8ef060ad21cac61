package frame

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// thinned returns what is kept of a frame that comes in pieces of a size.
func thinned(frame string, size, limit int) string {
	t := &Thinner{Limit: limit}
	for rest := []byte(frame); len(rest) > 0; {
		n := min(size, len(rest))
		t.Write(rest[:n])
		rest = rest[n:]
	}
	return string(t.Kept)
}

func TestThinner(t *testing.T) {
	image := strings.Repeat("iVBORw0KGgo", 100)
	tests := []struct{ name, in, want string }{
		{"nothing to leave out", `{"a":"x\"y","b":[1,true,null]}`, `{"a":"x\"y","b":[1,true,null]}`},
		{"an image in front of words", `{"prompt":[{"type":"image","data":"` + image +
			`","mimeType":"image/png"},{"type":"text","text":"look"}]}`,
			`{"prompt":[{"type":"image","data":"","mimeType":"image/png"},{"type":"text","text":"look"}]}`},
		{"a resource", `{"resource":{"blob" :	"` + image + `","uri":"file:///x"}}`, `{"resource":{"blob" :	"","uri":"file:///x"}}`},
		{"escapes inside", `{"data":"a\\","text":"b\\\"c"}`, `{"data":"","text":"b\\\"c"}`},
		{"the word as a value", `{"text":"data","x":["data","data"]}`, `{"text":"data","x":["data","data"]}`},
		{"another key", `{"metadata":"x","Data":"y"}`, `{"metadata":"x","Data":"y"}`},
		{"no string", `{"data":[1,"x"],"blob":{"a":"b"},"data":null,"c":"d"}`, `{"data":[1,"x"],"blob":{"a":"b"},"data":null,"c":"d"}`},
		{"no JSON", `"data" x : "y" "data" "z"`, `"data" x : "y" "data" "z"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 2, 3, 7, 1000, len(tt.in)} {
				if got := thinned(tt.in, size, 1<<20); got != tt.want {
					t.Errorf("in pieces of %d: %s, want %s", size, got, tt.want)
				}
			}
			for limit := range len(tt.want) {
				if got := thinned(tt.in, 5, limit); got != tt.want[:limit] {
					t.Errorf("up to %d: %s", limit, got)
				}
			}
		})
	}
}

// Every string of a frame has its share of the room.
func TestThinnerHalves(t *testing.T) {
	const limit = 8000
	long := strings.Repeat("word ", 10_000)
	tests := []struct {
		name, in string
		want     []string // what is still there
		lost     bool
	}{
		{"short", `{"p":[{"text":"one"},{"text":"two"}]}`, []string{"one", "two"}, false},
		{"just fits", `{"p":[{"text":"BEGIN ` + long[:3900] + `END"}]}`, []string{"BEGIN " + long[:3900] + "END"}, false},
		{"long", `{"p":[{"text":"BEGIN ` + long + `END"},{"text":"two"}]}`, []string{"BEGIN word", Seam, "word END", "two"}, true},
		{"many", `{"p":["` + long + `","` + long + `","` + long + `","three"]}`, []string{"three"}, true},
		{"no spaces", `{"p":["` + strings.Repeat("é", 30_000) + `","two"]}`, []string{Seam, "two"}, true},
		{"escapes", `{"p":["` + strings.Repeat(`\u00e9\n`, 9_000) + `","two"]}`, []string{Seam, "two"}, true},
		{"too many", `{"p":[` + strings.Repeat(`"twelve bytes",`, 2000) + `"end"]}`, []string{"twelve bytes"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var first string
			for _, size := range []int{len(tt.in), 1, 7, 1000, 5000} {
				got := thinned(tt.in, size, limit)
				if first == "" {
					first = got
				}
				lost := strings.Contains(got, Seam) || len(got) == limit
				if got != first || len(got) > limit || lost != tt.lost {
					t.Errorf("in pieces of %d: %d bytes, lost some: %v; at once: %d bytes", size, len(got), lost,
						len(first))
				}
			}
			if mended := Mend([]byte(first)); !Valid(mended) || !utf8.ValidString(first) {
				t.Errorf("%d bytes that are no JSON", len(first))
			}
			for _, want := range tt.want {
				if !strings.Contains(first, want) {
					t.Errorf("without %.40q", want)
				}
			}
		})
	}
}

// What is left of a valid frame is the same but for what was left out, however it is cut.
func FuzzThinner(f *testing.F) {
	f.Add([]byte(`{"params":{"prompt":[{"type":"image","data":"aGk="},{"type":"text","text":"a\u00e9\"b"}]}}`), 3)
	f.Add([]byte(`{"data" : "\\","blob":"\"","a":["data","b"]}`), 1)
	f.Add([]byte(`"data":"x`), 2)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		size = max(size, 1)
		got := thinned(string(in), size, 1<<20)
		if whole := thinned(string(in), max(len(in), 1), 1<<20); got != whole {
			t.Fatalf("%q in pieces of %d: %q, else %q", in, size, got, whole)
		}
		var was, is any
		if json.Unmarshal(in, &was) != nil || bytes.ContainsAny(in, "\ufffd") {
			return
		}
		if err := json.Unmarshal([]byte(got), &is); err != nil {
			t.Fatalf("%q became %q: %v", in, got, err)
		}
		if !escapesKey(in) && !reflect.DeepEqual(emptied(was), emptied(is)) {
			t.Errorf("%q became %q", in, got)
		}
	})
}

// escapesKey reports whether a key may be spelled in a way that hides it.
func escapesKey(in []byte) bool { return bytes.Contains(in, []byte(`\u`)) }

// emptied is v without what stands under the keys that are left out.
func emptied(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = emptied(v[i])
		}
	case map[string]any:
		for key, value := range v {
			if _, text := value.(string); text && (key == "data" || key == "blob") {
				value = ""
			}
			v[key] = emptied(value)
		}
	}
	return v
}
