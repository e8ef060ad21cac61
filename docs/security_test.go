package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each test that the table of threats names is there.
func TestThreatsAreTested(t *testing.T) {
	page, err := os.ReadFile("security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "| Who or what |")
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+|[a-z]+\\.txtar)`").FindAllStringSubmatch(table, -1)
	if !ok || len(named) < 30 {
		t.Fatalf("%d tests in the table", len(named))
	}
	var there strings.Builder
	err = filepath.WalkDir("..", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "node_modules" || e.Name() == ".git"):
			return fs.SkipDir
		case strings.HasSuffix(name, ".txtar"):
			there.WriteString(e.Name() + "\n")
		case strings.HasSuffix(name, "_test.go"):
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			there.Write(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range named {
		if !strings.Contains(there.String(), "func "+m[1]+"(") && !strings.Contains(there.String(), m[1]+"\n") {
			t.Errorf("no %s", m[1])
		}
	}
}
