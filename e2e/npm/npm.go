// Package npm installs the npm packages that a folder's package-lock.json names, on demand, so that a clean clone
// needs no step before `go test` or `make run`. Nothing is installed outside the folder and no install script is run.
package npm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// Modules is a node_modules folder.
type Modules string

// stamp is the file in node_modules that holds the hash of the lock file that it was installed from.
const stamp = ".installed-from"

// Install makes dir/node_modules what dir/package-lock.json says, unless it is already. Processes that install the same
// folder at once wait for each other.
func Install(ctx context.Context, dir string) (Modules, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	lockfile := filepath.Join(dir, "package-lock.json")
	text, err := os.ReadFile(lockfile)
	if err != nil {
		return "", fmt.Errorf("npm packages of %s: %w", dir, err)
	}
	want := fmt.Appendf(nil, "%x", sha256.Sum256(text))
	modules := filepath.Join(dir, "node_modules")
	installed := func() bool {
		have, err := os.ReadFile(filepath.Join(modules, stamp))
		return err == nil && bytes.Equal(have, want)
	}
	if installed() {
		return Modules(modules), nil
	}

	// The lock is on the lock file itself, which is always there and never replaced by `npm ci`.
	lock := flock.New(lockfile, flock.SetFlag(os.O_RDONLY))
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return "", fmt.Errorf("waiting for another npm install in %s: %w", dir, err)
	}
	defer lock.Close()
	if installed() {
		return Modules(modules), nil
	}
	cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return "", errors.New("npm is needed for the real clients and is not on the PATH")
		}
		return "", fmt.Errorf("npm ci in %s: %w\n%s", dir, err, out)
	}
	if err := os.WriteFile(filepath.Join(modules, stamp), want, 0o644); err != nil {
		return "", err
	}
	return Modules(modules), nil
}

// Node is the Node that was installed with the packages (acpx needs 22.13 or newer), else the one on the PATH.
func (m Modules) Node() (string, error) {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	for _, prefix := range []string{"node-", "node-bin-"} {
		path := filepath.Join(string(m), prefix+runtime.GOOS+"-"+arch, "bin", "node")
		if _, err := os.Stat(path); err == nil {
			return path, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return exec.LookPath("node")
}

// Script is the command line of a script in an installed package, such as acpx/dist/cli.js.
func (m Modules) Script(path string) ([]string, error) {
	node, err := m.Node()
	if err != nil {
		return nil, err
	}
	script := filepath.Join(string(m), filepath.FromSlash(path))
	if _, err := os.Stat(script); err != nil {
		return nil, err
	}
	return []string{node, script}, nil
}

// Version is that of an installed package, "" where it is none.
func (m Modules) Version(name string) string {
	var manifest struct{ Version string }
	text, err := os.ReadFile(filepath.Join(string(m), name, "package.json"))
	if err != nil || json.Unmarshal(text, &manifest) != nil {
		return ""
	}
	return manifest.Version
}

// Opencode is the path of opencode's binary, which comes as a package for each platform.
func (m Modules) Opencode() (string, error) {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	path := filepath.Join(string(m), "opencode-"+runtime.GOOS+"-"+arch, "bin", "opencode")
	_, err := os.Stat(path)
	return path, err
}
