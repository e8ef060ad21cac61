package main

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// npm writes the npm packages: one for each system, with the program of DIST/FOLDER, and the one that people name,
// which has all of these as optional dependencies. npm installs the one that fits the machine.
func (r *release) npm(from, dist string) error {
	to := filepath.Join(dist, "npm")
	text, err := os.ReadFile(filepath.Join(from, "package.json"))
	if err != nil {
		return err
	}
	var main map[string]any
	if err := json.Unmarshal(text, &main); err != nil {
		return err
	}
	optional := map[string]string{}
	for _, t := range r.Targets {
		name := program + "-" + t.NodeOS + "-" + t.NodeCC
		optional[name] = r.Version
		folder := filepath.Join(to, name)
		err := writePackage(folder, map[string]any{
			"name": name, "version": r.Version, "os": []string{t.NodeOS}, "cpu": []string{t.NodeCC}, "files": []string{"bin"},
			"description": "The program of signet-acp-proxy for " + t.OS + "/" + t.Arch + "; install signet-acp-proxy.",
			"homepage":    main["homepage"], "repository": main["repository"], "license": main["license"],
		})
		if err != nil {
			return err
		}
		if err := copyFile(filepath.Join(dist, t.Folder, t.Program),
			filepath.Join(folder, "bin", t.Program)); err != nil {
			return err
		}
	}
	main["version"], main["optionalDependencies"] = r.Version, optional
	folder := filepath.Join(to, program)
	if err := writePackage(folder, main); err != nil {
		return err
	}
	if err := copyFile(filepath.Join(from, "..", "README.md"), filepath.Join(folder, "README.md")); err != nil {
		return err
	}
	const start = "bin/" + program + ".js"
	return copyFile(filepath.Join(from, start), filepath.Join(folder, start))
}

func writePackage(folder string, manifest map[string]any) error {
	if err := os.MkdirAll(filepath.Join(folder, "bin"), 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "package.json"), append(text, '\n'), 0o644)
}

// copyFile copies a program or a text; npm keeps the right to execute it.
func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}
