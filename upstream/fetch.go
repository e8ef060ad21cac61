package upstream

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

// fetchOutside has npx fetch and resolve an adapter where no project can say which program that is: in a project's
// folder its .npmrc names the registry, and its node_modules/.bin comes before the package. The adapter itself is
// started in our folder. uvx needs nothing of the kind: "uv tool" ignores a project's configuration
// (https://docs.astral.sh/uv/concepts/configuration-files).
//
// What npx reads from the environment for itself does not reach the adapter, whose own calls of npx would heed it.
func (p Profile) fetchOutside(o *Options) {
	call, ok := npxOf(o.Command)
	if ok && len(p.Command) > 0 && len(call.packages) == 0 && p.inArgument(call.run[0]) {
		call.packages, call.run[0] = []string{call.run[0]}, p.program()
	}
	isFolder := slices.ContainsFunc(call.packages, func(name string) bool { // from where we are
		return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "file:")
	})
	if !ok || len(call.packages) == 0 || isFolder { // npx reads the package to know which program is meant
		return
	}
	here, err := os.Getwd()
	if err != nil {
		return
	}
	script, shell := callOnUnix(here, call.run), "/bin/sh"
	if runtime.GOOS == "windows" {
		script, shell = callOnWindows(here, call.run), "cmd.exe"
	}
	o.Dir, o.adapter = outside(), call.run
	o.Env = append(environment(o.Env), "npm_config_call="+script, "npm_config_script_shell="+shell)
	o.Command = append(call.npx, "-y")
	o.Command = append(o.Command, call.options...)
	for _, name := range call.packages {
		o.Command = append(o.Command, "--package="+name)
	}
}

// Fetch has npx fetch the adapter now if it is to do so at the start, and makes o start the adapter without it: where
// the rights of a harness are bounded, its npx could not write to the user's cache.
func (o *Options) Fetch(ctx context.Context) error {
	if o.adapter == nil {
		return nil
	}
	which := *o
	which.Env = append(slices.Clone(o.Env), "npm_config_call=command -v "+chars.ShellWord(o.adapter[0]))
	which.Stderr = nil
	out, err := output(ctx, which)
	path := strings.TrimSpace(out)
	if err == nil && !filepath.IsAbs(path) {
		err = fmt.Errorf("%q is no path", path)
	}
	if err != nil {
		return fmt.Errorf("%w: npx did not fetch %s: %w", ErrNotStarted, o.adapter[0], err)
	}
	o.Command, o.Dir = append([]string{path}, o.adapter[1:]...), ""
	o.Env = slices.DeleteFunc(o.Env, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(ofNpx, name) || name == "npm_config_script_shell"
	})
	return nil
}

// ofNpx are the variables of npx alone.
var ofNpx = []string{"npm_config_call", "npm_config_script_shell", "npm_config_package"}

func callOnUnix(dir string, command []string) string {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = chars.ShellWord(word)
	}
	return "unset " + strings.Join(ofNpx, " ") + "; cd " + chars.ShellWord(dir) + " && exec " + strings.Join(words, " ")
}

func callOnWindows(dir string, command []string) string {
	var call strings.Builder
	for _, name := range ofNpx {
		call.WriteString(`set "` + name + `=" & `)
	}
	call.WriteString(`cd /d "` + dir + `" && "` + strings.Join(command, `" "`) + `"`)
	return call.String()
}

// outside is a folder that only administrators can write, with no project above it.
func outside() string {
	if runtime.GOOS == "windows" {
		return os.Getenv("SystemRoot")
	}
	return string(filepath.Separator)
}
