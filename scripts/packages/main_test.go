package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

const version = "1.2.3"

// newDist makes a folder with what scripts/release.sh leaves for this program; programs that are not given are a line
// of text.
func newDist(t *testing.T, programs map[string]string) string {
	t.Helper()
	dist := t.TempDir()
	var sums strings.Builder
	for i, tt := range targets(version) {
		fmt.Fprintf(&sums, "%064x  %s\n", i+1, tt.Archive)
		if err := os.MkdirAll(filepath.Join(dist, tt.Folder), 0o755); err != nil {
			t.Fatal(err)
		}
		text := []byte("no program\n")
		if file := programs[tt.OS+"/"+tt.Arch]; file != "" {
			var err error
			if text, err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dist, tt.Folder, tt.Program), text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dist, "SHA256SUMS"), []byte(sums.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := write("../..", dist, "v"+version); err != nil {
		t.Fatal(err)
	}
	return dist
}

func read(t *testing.T, name ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(name...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What the registries read keeps to their schemas.
func TestSchemas(t *testing.T) {
	dist := newDist(t, nil)
	for file, schema := range map[string]string{"server.json": "server.schema.json",
		"agent.json": "agent.schema.json"} {
		var s jsonschema.Schema
		if err := json.Unmarshal([]byte(read(t, "testdata", schema)), &s); err != nil {
			t.Fatal(err)
		}
		resolved, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		var doc any
		if err := json.Unmarshal([]byte(read(t, dist, "packaging", file)), &doc); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := resolved.Validate(doc); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	var npm struct{ McpName, Version string }
	var server struct{ Name, Version string }
	for file, to := range map[string]any{"npm/signet-acp-proxy/package.json": &npm, "packaging/server.json": &server} {
		if err := json.Unmarshal([]byte(read(t, dist, file)), to); err != nil {
			t.Fatal(err)
		}
	}
	if npm.McpName != server.Name || npm.Version != version || server.Version != version {
		t.Errorf("npm says %+v, server.json %+v", npm, server) // the MCP registry compares them
	}
}

// Each archive stands with its own checksum in what names archives, and nothing is left unfilled.
func TestArchivesAreNamed(t *testing.T) {
	dist := newDist(t, nil)
	for i, tt := range targets(version) {
		sum := fmt.Sprintf("%064x", i+1)
		for _, file := range []string{"homebrew.rb", "nix.nix", "agent.json"} {
			if tt.OS == "windows" && file != "agent.json" {
				continue
			}
			text := read(t, dist, "packaging", file)
			at, of := strings.Index(text, tt.Archive), strings.Index(text, sum)
			if at < 0 || of < at || of-at > 200 {
				t.Errorf("%s: %s and its checksum do not stand together", file, tt.Archive)
			}
		}
	}
	names, err := filepath.Glob(filepath.Join(dist, "packaging", "*"))
	if err != nil || len(names) != 4 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	for _, name := range names {
		if text := read(t, name); strings.Contains(text, "<no value>") || strings.Contains(text, "{{") {
			t.Errorf("%s is not filled:\n%s", name, text)
		}
	}
}

// The image is built with the Go that go.mod asks for.
func TestDockerfile(t *testing.T) {
	goVersion := regexp.MustCompile(`(?m)^go (1\.\d+)`).FindStringSubmatch(read(t, "../../go.mod"))
	image := regexp.MustCompile(`(?m)^FROM golang:(\S+) AS build$`).FindStringSubmatch(read(t,
		"../../packaging/Dockerfile"))
	if goVersion == nil || image == nil || goVersion[1] != image[1] {
		t.Errorf("go.mod names %q, packaging/Dockerfile %q", goVersion, image)
	}
}

func TestNoArchive(t *testing.T) {
	dist := t.TempDir()
	if err := write("../..", dist, version); err == nil {
		t.Error("no checksums are taken for a release")
	}
	if err := os.WriteFile(filepath.Join(dist, "SHA256SUMS"), []byte("00  other.tar.gz\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := write("../..", dist, version); err == nil || !strings.Contains(err.Error(), "no archive") {
		t.Errorf("a release of nothing: %v", err)
	}
}
