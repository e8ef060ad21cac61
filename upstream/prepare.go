package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const probeTimeout = 2 * time.Second // for gemini --version and copilot --help, as in acpx

// Prepare completes o for this machine: the command line, if o has none, the graces, and what acpx does for a harness
// that it recognises by its program's name, which it does not see behind us. Only gemini and copilot may be run for
// their version first, for 2 s at most and only if their package.json does not say it. The error is an ErrNotStarted.
func (p Profile) Prepare(ctx context.Context, o *Options) error {
	if len(o.Command) == 0 {
		o.Command = p.CommandHere()
	}
	if o.Grace == 0 {
		o.Grace = p.Grace
	}
	if o.MinGrace == 0 {
		o.MinGrace = p.MinGrace
	}
	path, err := find(o.Command)
	if err != nil {
		return err
	}
	switch acp := slices.Contains(o.Command, "--acp"); programName(o.Command[0]) {
	case "gemini":
		if acp {
			useOldGeminiFlag(ctx, path, o)
		}
	case "copilot":
		if acp {
			return checkCopilot(ctx, path, o)
		}
	}
	p.fetchOutside(o)
	if p.Name == "claude" && runtime.GOOS == "windows" {
		setClaudePath(o)
	}
	return nil
}

// useOldGeminiFlag replaces --acp by the flag of versions before 0.33, if gemini is older.
func useOldGeminiFlag(ctx context.Context, path string, o *Options) {
	v, known := packageVersion(path, "@google/gemini-cli")
	if !known {
		v, known = parseVersion(ask(ctx, path, o.Env, "--version"))
	}
	if known && v.before(version{0, 33, 0}) {
		o.Command = slices.Clone(o.Command)
		o.Command[slices.Index(o.Command, "--acp")] = "--experimental-acp"
	}
}

// checkCopilot rejects a copilot that is too old for ACP and would exit 0 without a message.
func checkCopilot(ctx context.Context, path string, o *Options) error {
	if v, known := packageVersion(path, "@github/copilot"); known && !v.before(version{0, 0, 400}) {
		return nil
	}
	help := ask(ctx, path, o.Env, "--help")
	if help == "" || strings.Contains(help, "--acp") {
		return nil
	}
	return fmt.Errorf("%w: %s is too old for --acp: npm install -g @github/copilot@latest", ErrNotStarted, path)
}

// setClaudePath tells claude's adapter where claude.exe is. On Windows it does not find it by itself.
func setClaudePath(o *Options) {
	env := environment(o.Env)
	set := slices.ContainsFunc(env, func(entry string) bool {
		return strings.HasPrefix(strings.ToUpper(entry), "CLAUDE_CODE_EXECUTABLE=")
	})
	if set {
		return
	}
	if path, err := exec.LookPath("claude.exe"); err == nil {
		o.Env = append(env, "CLAUDE_CODE_EXECUTABLE="+path)
	}
}

// ask runs a harness and returns what it prints; "" if it fails or does not end within probeTimeout.
func ask(ctx context.Context, path string, env []string, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	out, err := output(ctx, Options{Command: append([]string{path}, args...), Env: env})
	if err != nil {
		return ""
	}
	return out
}

type version [3]int

func (v version) before(other version) bool { return slices.Compare(v[:], other[:]) < 0 }

// versionNumber is compiled when it is first used: most starts never do.
var versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+)\.(\d+)\.(\d+)`) })

func parseVersion(text string) (v version, ok bool) {
	match := versionNumber().FindStringSubmatch(text)
	if match == nil {
		return v, false
	}
	for i := range v {
		v[i], _ = strconv.Atoi(match[i+1])
	}
	return v, true
}

// packageVersion returns the version in the package.json of the npm package that a program on PATH belongs to. That
// takes microseconds; running the program takes a second.
func packageVersion(path, name string) (version, bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return version{}, false
	}
	for dir := filepath.Dir(real); filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err != nil {
			continue
		}
		var manifest struct{ Name, Version string }
		if json.Unmarshal(text, &manifest) != nil || manifest.Name == "" {
			continue // it only sets the module type of a folder
		}
		if manifest.Name != name {
			break
		}
		return parseVersion(manifest.Version)
	}
	return version{}, false
}
