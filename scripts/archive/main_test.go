package main

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The same files make the same archive, whenever they were written, and it unpacks to them.
func TestPack(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "p-1.0")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("LICENSE", "mine", 0o600)
	write("p", "#!/bin/sh\necho ran\n", 0o700)
	for _, ext := range []string{".tar.gz", ".zip"} {
		var packed [2][]byte
		for i := range packed {
			file := filepath.Join(dir, "p"+ext)
			if err := pack(folder, file); err != nil {
				t.Fatal(err)
			}
			var err error
			if packed[i], err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
			later := time.Now().Add(time.Hour)
			if err := os.Chtimes(filepath.Join(folder, "p"), later, later); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(packed[0], packed[1]) {
			t.Errorf("two archives of the same files differ: %s", ext)
		}
	}
	to := filepath.Join(dir, "unpacked")
	if err := os.Mkdir(to, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("tar", "-xzf", filepath.Join(dir, "p.tar.gz"), "-C", to).CombinedOutput(); err != nil {
		t.Skipf("no tar: %v\n%s", err, out)
	}
	if out, err := exec.Command(filepath.Join(to, "p-1.0", "p")).Output(); err != nil || string(out) != "ran\n" {
		t.Errorf("what was unpacked does not run: %q, %v", out, err)
	}
	z, err := zip.OpenReader(filepath.Join(dir, "p.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name+" "+f.Mode().String())
	}
	if got := strings.Join(names, ", "); got != "p-1.0/LICENSE -rw-r--r--, p-1.0/p -rwxr-xr-x" {
		t.Errorf("the zip has %s", got)
	}
}

func TestPackNothing(t *testing.T) {
	dir := t.TempDir()
	if err := pack(filepath.Join(dir, "nowhere"), filepath.Join(dir, "x.zip")); err == nil {
		t.Error("packed a folder that is not there")
	}
}
