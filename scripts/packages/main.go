// Command packages writes, for the archives of a release, what package managers and registries want to have:
//
//	packages ROOT DIST VERSION
//
// ROOT is the checkout; DIST has the archives and SHA256SUMS. DIST/packaging gets the Homebrew formula, the Nix file,
// server.json for the MCP registry and agent.json for the ACP registry (from ROOT/packaging), and DIST/npm a folder
// for each npm package (from ROOT/npm).
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

const (
	program    = "signet-acp-proxy"
	repository = "https://github.com/Signet-AI/signet-acp-proxy"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: packages ROOT DIST VERSION")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

// A target is a system that there is an archive for, in the words of everybody who names it.
type target struct {
	OS, Arch       string // Go's
	NodeOS, NodeCC string
	ACP, Nix       string
	BrewArch       string

	Folder  string // in the archive
	Archive string
	Program string
	SHA256  string
}

// A system is one of Homebrew's blocks.
type system struct {
	Brew    string
	Targets []target
}

// A release is what the templates are filled with.
type release struct {
	Version, Repository, Download string
	Targets                       []target
	Unix                          []system
}

// targets are all that could be in a release of this version.
func targets(version string) []target {
	var all []target
	for _, os := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			cpu := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]
			t := target{
				OS: os, Arch: arch,
				NodeOS:   map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"}[os],
				NodeCC:   map[string]string{"amd64": "x64", "arm64": "arm64"}[arch],
				ACP:      os + "-" + cpu,
				Nix:      cpu + "-" + os,
				BrewArch: map[string]string{"amd64": "intel", "arm64": "arm"}[arch],
				Folder:   fmt.Sprintf("%s-%s-%s-%s", program, version, os, arch),
				Program:  program,
			}
			t.Archive = t.Folder + ".tar.gz"
			if os == "windows" {
				t.Program += ".exe"
				t.Archive = t.Folder + ".zip"
			}
			all = append(all, t)
		}
	}
	return all
}

// checksums reads SHA256SUMS, by file.
func checksums(dist string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	if err != nil {
		return nil, err
	}
	sums := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 2 {
			sums[strings.TrimPrefix(f[1], "*")] = f[0]
		}
	}
	return sums, nil
}

func write(root, dist, version string) error {
	version = strings.TrimPrefix(version, "v")
	sums, err := checksums(dist)
	if err != nil {
		return err
	}
	r := release{Version: version, Repository: repository, Download: repository + "/releases/download/v" + version}
	for _, t := range targets(version) {
		if t.SHA256 = sums[t.Archive]; t.SHA256 != "" {
			r.Targets = append(r.Targets, t)
		}
	}
	if len(r.Targets) == 0 {
		return errors.New("no archive of this version in " + dist)
	}
	for _, s := range []struct{ os, brew string }{{"darwin", "macos"}, {"linux", "linux"}} {
		block := system{Brew: s.brew}
		for _, t := range r.Targets {
			if t.OS == s.os {
				block.Targets = append(block.Targets, t)
			}
		}
		if block.Targets != nil {
			r.Unix = append(r.Unix, block)
		}
	}
	if err := r.fill(filepath.Join(root, "packaging"), filepath.Join(dist, "packaging")); err != nil {
		return err
	}
	return r.npm(filepath.Join(root, "npm"), dist)
}

// fill writes the files that the templates in a folder make.
func (r *release) fill(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(from, "*.tmpl"))
	if err != nil {
		return err
	}
	for _, name := range names {
		t, err := template.ParseFiles(name)
		if err != nil {
			return err
		}
		var text strings.Builder
		if err := t.Execute(&text, r); err != nil {
			return err
		}
		file := filepath.Join(to, strings.TrimSuffix(filepath.Base(name), ".tmpl"))
		if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
