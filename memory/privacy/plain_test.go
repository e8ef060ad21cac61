package privacy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// plainTexts are code and prose that is on every machine that builds this: the standard library and what our modules
// say about themselves.
func plainTexts(t testing.TB, most int) (texts map[string]string, size int) {
	t.Helper()
	// Of modules those of this one: what else lies beside them is somebody's own.
	listed, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "all").Output()
	if err != nil {
		t.Skipf("no list of modules: %v", err)
	}
	type place struct{ root, suffix string }
	var places []place
	for dir := range strings.FieldsSeq(string(listed)) {
		places = append(places, place{dir, ".md"})
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	places = append(places, place{filepath.Join(strings.TrimSpace(string(root)), "src"), ".go"})
	texts = map[string]string{}
	for _, from := range places {
		_ = filepath.WalkDir(from.root, func(path string, d os.DirEntry, err error) error {
			if err != nil || size > most {
				return nil
			}
			if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules") {
				return filepath.SkipDir
			}
			if strings.HasSuffix(path, from.suffix) && !strings.HasSuffix(path, "_test.go") {
				if raw, err := os.ReadFile(path); err == nil {
					texts[path] = string(raw)
					size += len(raw)
				}
			}
			return nil
		})
	}
	return texts, size
}

// What people write that holds no secret is left alone: of 20 MB of code and prose no more than a few places are taken
// for one.
func TestRedactPlainText(t *testing.T) {
	most := 20 << 20
	if testing.Short() {
		most = 2 << 20
	}
	texts, size := plainTexts(t, most)
	if size < 1<<20 {
		t.Skipf("only %d bytes of code and prose here", size)
	}
	began, found := time.Now(), 0
	for path, text := range texts {
		for _, s := range find(text, false).spans {
			found++
			t.Logf("%s: %s %q", filepath.Base(path), s.kind, text[max(0, s.start-40):min(len(text), s.end+10)])
		}
	}
	if found > size>>21 { // one in 2 MB: some are examples of secrets
		t.Errorf("%d places in %d bytes", found, size)
	}
	t.Logf("%d in %d bytes, %.1f MB/s", found, size, float64(size)/1e6/time.Since(began).Seconds())
}
