// Command sbom writes a CycloneDX list of what a Go binary was built of, as the binary itself says it:
//
//	sbom FILE VERSION >FILE.cdx.json
//
// It holds nothing that differs between two builds of the same source.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom FILE VERSION")
		os.Exit(2)
	}
	info, err := buildinfo.ReadFile(os.Args[1])
	if err == nil {
		info.Main.Version = os.Args[2]
		err = write(os.Stdout, info)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// A document is the part of CycloneDX 1.5 that says what is inside.
type document struct {
	BOMFormat   string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// write writes the list. A module's checksum is Go's own, of its whole tree, which CycloneDX has no name for: it is a
// property.
func write(w io.Writer, info *debug.BuildInfo) error {
	doc := document{BOMFormat: "CycloneDX", SpecVersion: "1.5", Version: 1}
	doc.Metadata.Component = module("application", &info.Main)
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS", "GOARCH", "CGO_ENABLED", "-tags", "vcs.revision", "vcs.modified":
			doc.Metadata.Component.Properties = append(doc.Metadata.Component.Properties,
				property{"go:build:" + s.Key, s.Value})
		}
	}
	doc.Components = []component{module("library", &debug.Module{Path: "std", Version: info.GoVersion})}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		doc.Components = append(doc.Components, module("library", dep))
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(doc)
}

func module(kind string, m *debug.Module) component {
	url := "pkg:golang/" + m.Path + "@" + m.Version
	c := component{Type: kind, Ref: url, Name: m.Path, Version: m.Version, PURL: url}
	if m.Sum != "" {
		c.Properties = []property{{"go:sum", m.Sum}}
	}
	return c
}
