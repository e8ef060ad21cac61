package privacy

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// What one process heard marked private no other stores, in that project; and no word of it is in the file.
func TestOtherProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private")
	one, two := FileAt(path), FileAt(path)
	if got := two.Conceal("/p", "Robin's number is 0151 442 88 10."); !strings.Contains(got, "442") {
		t.Errorf("before anything was private: %q", got)
	}
	long := strings.Repeat("the boat leaves at dawn from the old quay and nobody may know of it at all ", 3)
	if err := one.Keep("/p", []string{"on 0151 442 88 10", "Zürich-Oerlikon", "船は夜明けに出る", long}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ project, text, want string }{
		{"/p", "Call ON 0151-442 88\n10 today.", "Call [private] today."},
		{"/p", "In zürich oerlikon.", "In [private]."},
		{"/p", "そこで船は夜明けに出るよ", "そこで[private]よ"},
		{"/p", "It goes on: " + long[:90], "It goes on: [private] all the boat leaves"},
		{"/p", "the boat leaves", "the boat leaves"},
		{"/q", "Call on 0151 442 88 10 today.", "Call on 0151 442 88 10 today."},
	} {
		if got := two.Conceal(c.project, c.text); got != c.want {
			t.Errorf("%s: %q gives %q, want %q", c.project, c.text, got, c.want)
		}
		s := &Stream{}
		s.Conceal(nil, two.Digests(c.project))
		var streamed strings.Builder
		for _, b := range []byte(c.text) {
			streamed.WriteString(s.Write(string([]byte{b})))
		}
		if got := streamed.String() + s.End(); got != c.want {
			t.Errorf("%s: %q streamed gives %q, want %q", c.project, c.text, got, c.want)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"442", "rich", "boat", "/p"} {
		if strings.Contains(string(raw), word) && len(word) > 3 {
			t.Errorf("the file holds %q", word)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v %v", info.Mode(), err)
	}
	if err := one.Keep("/p", []string{"Zürich-Oerlikon"}); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(path); err != nil || len(again) != len(raw) {
		t.Errorf("what is known was written again: %v", err)
	}
}

// No two files have the same digests, and one that another took the place of is read anew.
func TestAnotherFile(t *testing.T) {
	dir := t.TempDir()
	digests := func(name string, words ...string) string {
		path := filepath.Join(dir, name)
		if err := FileAt(path).Keep("/p", words); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, lines, _ := strings.Cut(string(raw), "\n")
		return lines
	}
	if one := digests("one", "kestrel-1", "walnut-2"); one == digests("two", "kestrel-1", "walnut-2") {
		t.Errorf("both have %s", one)
	}
	f := FileAt(filepath.Join(dir, "one"))
	if got := f.Conceal("/p", "kestrel-1"); got != "[private]" {
		t.Error(got)
	}
	digests("three", "harbor-3")
	if err := os.Rename(filepath.Join(dir, "three"), filepath.Join(dir, "one")); err != nil {
		t.Fatal(err)
	}
	if got := f.Conceal("/p", "kestrel-1 in harbor-3"); got != "kestrel-1 in [private]" {
		t.Error(got)
	}
}

// Of many that begin the file at the same moment one gives the salt.
func TestAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private")
	words := strings.Fields("kestrel-1 walnut-2 harbor-3 marble-4 falcon-5 lantern-6")
	var group sync.WaitGroup
	for _, w := range words {
		group.Go(func() {
			if err := FileAt(path).Keep("", []string{w}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	f := FileAt(path)
	for _, w := range words {
		if got := f.Conceal("", w); got != "[private]" {
			t.Errorf("%s: %q", w, got)
		}
	}
	left, err := filepath.Glob(path + "*")
	if err != nil || len(left) != 1 {
		t.Errorf("left: %q %v", left, err)
	}
}
