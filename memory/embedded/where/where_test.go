package where

import (
	"slices"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
)

func TestRank(t *testing.T) {
	const a, b, c = "proxy/held.go", "docs/guide.md", "view/page.go"
	for name, tt := range map[string]struct {
		touches []Touch
		heard   []Heard
		prompt  string
		want    []string
	}{
		"what was said there counts": {[]Touch{{1, 1, a, Edited}, {2, 2, b, Edited}}, []Heard{{1, 1, 1}}, "", []string{a, b}},
		"more, most of all": {[]Touch{{1, 1, a, Edited}, {2, 2, b, Edited}}, []Heard{{1, 1, 1}, {2, 2, .5}}, "",
			[]string{a, b}},
		"an edit is more than a reading": {[]Touch{{1, 1, b, Read}, {1, 1, a, Edited}}, []Heard{{1, 1, 1}}, "",
			[]string{a, b}},
		"that is more than a name": {[]Touch{{1, 1, b, Named}, {1, 1, a, Read}}, []Heard{{1, 1, 1}}, "", []string{a, b}},
		"a turn of that session has half": {[]Touch{{1, 2, a, Read}, {2, 4, b, Read}}, []Heard{{1, 1, 1}, {2, 4, .2}}, "",
			[]string{a, b}},
		"new is better than old": {[]Touch{{1, 1, b, Edited}, {2, 2, a, Edited}}, []Heard{{1, 1, 1}, {2, 2, 1}}, "",
			[]string{a, b}},
		"lately edited, of equals": {[]Touch{{1, 1, a, Read}, {1, 1, b, Read}, {2, 2, a, Edited}}, []Heard{{1, 1, 1}}, "",
			[]string{a, b}},
		"named in words": {[]Touch{{1, 1, b, Edited}, {1, 1, c, Edited}, {1, 1, a, Edited}}, []Heard{{1, 1, 1}},
			"the page that is held", []string{a, c, b}},
		"again and again is more": {[]Touch{{1, 1, b, Read}, {1, 2, a, Read}, {1, 3, a, Read}},
			[]Heard{{1, 1, 1}, {1, 2, 1}, {1, 3, 1}}, "", []string{a, b}},
		"nothing was said of it": {[]Touch{{1, 1, a, Read}}, nil, "", nil},
	} {
		var got []string
		files, _ := Rank(tt.touches, tt.heard, language.SetOf(language.Terms(tt.prompt)))
		for _, f := range files {
			got = append(got, f.Path)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
	files, bears := Rank([]Touch{{1, 1, a, Read}, {1, 2, a, Edited}}, []Heard{{1, 2, 1}}, nil)
	if len(files) != 1 || files[0].Turn != 2 || bears != 1+together {
		t.Errorf("%+v", files)
	}
	files, bears = Rank([]Touch{{1, 1, a, Edited}, {2, 2, b, Edited}, {2, 3, b, Edited}}, []Heard{{1, 1, 1}}, nil)
	if len(files) != 2 || files[1].Turn != 3 || bears != 1+together {
		t.Errorf("of a file that is merely recent the last turn counts: %+v", files)
	}
}

// A prompt gets files where earlier work bears on it, or less of that does and a path has its words.
func TestWorthTelling(t *testing.T) {
	for _, tt := range []struct {
		bears float64
		named []float64
		want  bool
	}{{.83, nil, true}, {.81, nil, false}, {.7, []float64{0, .2, 0}, true}, {0, []float64{1, 1, 1.1}, true}, {0, []float64{1}, false}} {
		var files []File
		for _, n := range tt.named {
			files = append(files, File{Named: n})
		}
		if got := WorthTelling(tt.bears, files); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	files, _ := Rank([]Touch{{1, 1, "a/held.go", Edited}, {1, 1, "a/page.go", Edited}, {1, 1, "b/page.go", Edited}},
		[]Heard{{1, 1, 1}}, language.SetOf(language.Terms("held page")))
	if len(files) != 3 || files[0].Path != "a/held.go" || files[0].Named < .7 || files[2].Named > .3 || files[2].Named == 0 {
		t.Errorf("%+v", files)
	}
}
