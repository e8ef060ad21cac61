package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// The file is its owner's, whatever was there before, and nothing is left of one that could not be written.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "page.html")
	if err := os.WriteFile(name, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	page := func(w io.Writer) error { _, err := io.WriteString(w, "page"); return err }
	broken := func(w io.Writer) error { return errors.Join(page(w), io.ErrUnexpectedEOF) }
	folder := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(folder, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file string
		write      func(io.Writer) error
	}{{"half a page", name, broken}, {"no folder", filepath.Join(dir, "none", "page"), page},
		{"a folder", folder, page}} {
		if err := Replace(c.file, 0o600, c.write); err == nil {
			t.Errorf("%s: written", c.name)
		}
	}
	if text, _ := os.ReadFile(name); string(text) != "before" {
		t.Errorf("half a page took the place of a whole one: %s", text)
	}
	if err := Replace(name, 0o600, page); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 4 {
		t.Errorf("%v, %v", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".signet-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
