package rank

import (
	"slices"
	"testing"
)

func TestFiles(t *testing.T) {
	const a, b, c = "proxy/held.go", "docs/guide.md", "view/page.go"
	for name, tt := range map[string]struct {
		touches []Touch
		heard   []*Passage
		prompt  string
		want    []string
	}{
		"what was said there counts": {[]Touch{{1, 1, a, Edited, monday}, {2, 2, b, Edited, monday}}, []*Passage{{Thread: 1, Turn: 1, Own: 1}}, "", []string{a, b}},
		"more, most of all": {[]Touch{{1, 1, a, Edited, monday}, {2, 2, b, Edited, monday}}, []*Passage{{Thread: 1, Turn: 1, Own: 1}, {Thread: 2, Turn: 2, Own: .5}}, "",
			[]string{a, b}},
		"an edit is more than a reading": {[]Touch{{1, 1, b, Read, monday}, {1, 1, a, Edited, monday}}, []*Passage{{Thread: 1, Turn: 1, Own: 1}}, "",
			[]string{a, b}},
		"that is more than a name": {[]Touch{{1, 1, b, Named, monday}, {1, 1, a, Read, monday}}, []*Passage{{Thread: 1, Turn: 1, Own: 1}}, "", []string{a, b}},
		"a turn of that session has half": {[]Touch{{1, 2, a, Read, monday}, {2, 4, b, Read, monday}}, []*Passage{{Thread: 1, Turn: 1, Own: 1}, {Thread: 2, Turn: 4, Own: .2}}, "",
			[]string{a, b}},
		"new is better than old": {[]Touch{{1, 1, b, Edited, monday}, {2, 2, a, Edited, monday}}, []*Passage{{Thread: 1, Turn: 1, Own: 1}, {Thread: 2, Turn: 2, Own: 1}}, "",
			[]string{a, b}},
		"lately edited, of equals": {[]Touch{{1, 1, a, Read, monday}, {1, 1, b, Read, monday}, {2, 2, a, Edited, monday}}, []*Passage{{Thread: 1, Turn: 1, Own: 1}}, "",
			[]string{a, b}},
		"named in words": {[]Touch{{1, 1, b, Edited, monday}, {1, 1, c, Edited, monday}, {1, 1, a, Edited, monday}}, []*Passage{{Thread: 1, Turn: 1, Own: 1}},
			"the page that is held", []string{a, c, b}},
		"again and again is more": {[]Touch{{1, 1, b, Read, monday}, {1, 2, a, Read, monday}, {1, 3, a, Read, monday}},
			[]*Passage{{Thread: 1, Turn: 1, Own: 1}, {Thread: 1, Turn: 2, Own: 1}, {Thread: 1, Turn: 3, Own: 1}}, "", []string{a, b}},
		"nothing was said of it": {[]Touch{{1, 1, a, Read, monday}}, nil, "", nil},
	} {
		var got []string
		files, _ := asking(tt.prompt).Files(tt.touches, tt.heard)
		for _, f := range files {
			got = append(got, f.Path)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
	files, bears := asking("").Files([]Touch{{1, 1, a, Read, monday}, {1, 2, a, Edited, monday}}, []*Passage{{Thread: 1, Turn: 2, Own: 1}})
	if len(files) != 1 || files[0].Turn != 2 || bears != 1+together {
		t.Errorf("%+v", files)
	}
	files, bears = asking("").Files([]Touch{{1, 1, a, Edited, monday}, {2, 2, b, Edited, monday}, {2, 3, b, Edited, monday}}, []*Passage{{Thread: 1, Turn: 1, Own: 1}})
	if len(files) != 2 || files[1].Turn != 3 || bears != 1+together {
		t.Errorf("of a file that is merely recent the last turn counts: %+v", files)
	}
}

// A prompt gets files where earlier work bears on it, or less of that does and a path has its words.
func TestFilesWorthTelling(t *testing.T) {
	for _, tt := range []struct {
		bears float64
		named []float64
		want  bool
	}{{.83, nil, true}, {.81, nil, false}, {.7, []float64{0, .2, 0}, true}, {0, []float64{1, 1, 1.1}, true}, {0, []float64{1}, false}} {
		var files []File
		for _, n := range tt.named {
			files = append(files, File{Named: n})
		}
		if got := FilesWorthTelling(tt.bears, files); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	files, _ := asking("held page").Files([]Touch{{1, 1, "a/held.go", Edited, monday}, {1, 1, "a/page.go", Edited, monday}, {1, 1, "b/page.go", Edited, monday}},
		[]*Passage{{Thread: 1, Turn: 1, Own: 1}})
	if len(files) != 3 || files[0].Path != "a/held.go" || files[0].Named < .7 || files[2].Named > .3 || files[2].Named == 0 {
		t.Errorf("%+v", files)
	}
}

func asking(prompt string) *Query {
	q := Ask(prompt, monday)
	return &q
}
