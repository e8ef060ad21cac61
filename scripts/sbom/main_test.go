package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

// The list names every module that the binary has, with its checksum, and is the same each time.
func TestWrite(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info.Deps = append(info.Deps, &debug.Module{Path: "example.com/a", Version: "v1.2.3", Sum: "h1:abc="})
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := write(out, info); err != nil {
			t.Fatal(err)
		}
	}
	var got document
	if err := json.Unmarshal(first.Bytes(), &got); err != nil || first.String() != second.String() {
		t.Fatalf("%v, or it differs:\n%s\n%s", err, &first, &second)
	}
	if got.BOMFormat != "CycloneDX" || got.SpecVersion != "1.5" || got.Metadata.Component.Type != "application" {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(first.String(), "pkg:golang/example.com/a@v1.2.3") || !strings.Contains(first.String(), "h1:abc=") {
		t.Errorf("a module's version or checksum is missing:\n%s", &first)
	}
	listed := map[string]bool{}
	for _, c := range got.Components {
		listed[c.Name] = strings.HasPrefix(c.PURL, "pkg:golang/") && c.Type == "library"
	}
	for _, dep := range info.Deps {
		if !listed[dep.Path] {
			t.Errorf("%s is not listed", dep.Path)
		}
	}
	if !listed["std"] {
		t.Error("Go's own library is not listed")
	}
}
