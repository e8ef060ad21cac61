package clients

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// A client is a program that talks to agents: how it is told of one. Sources are in docs/facts/clients.md.
type client struct {
	Name, Title string
	Programs    []string // on PATH
	Signs       []string // globs below home of what is there where it is used

	// What follows is of clients whose file setup writes.

	Path      func(on system) string
	Section   string   // the member of the file that holds the agents
	Fields    string   // JSON that each entry begins with
	Comments  bool     // the file may hold comments
	Desktop   bool     // starts us with a desktop's PATH, which is often shorter than a shell's
	ByName    []string // harnesses that it does something for where the entry has their name
	KeepsPATH bool     // and without a shell, so that the agent's programs need ours
	Reload    string   // how it reads the file again

	// Where and Snippet are of all: what a person pastes, and where.
	Where   string
	Snippet func(entry snippet) string
	Notes   string // what it is known for
}

// A system is where a client runs.
type system struct {
	os, home string
	env      func(string) string
}

func here(home string) system { return system{runtime.GOOS, home, os.Getenv} }

// config is the folder in which programs keep their settings.
func (on system) config() string {
	switch dir := on.env("XDG_CONFIG_HOME"); {
	case on.os == "windows":
		return on.env("APPDATA")
	case on.os == "darwin":
		return filepath.Join(on.home, "Library", "Application Support")
	case dir != "":
		return dir
	}
	return filepath.Join(on.home, ".config")
}

// names are what our entry for a harness may be called, the best first.
func (c client) names(harness string) []string {
	if slices.Contains(c.ByName, harness) {
		return []string{harness, Prefix + harness}
	}
	return []string{Prefix + harness}
}

// Prefix stands before a harness's name in the names of our entries.
const Prefix = "signet-"

// A snippet is what a person pastes into a client: its parts.
type snippet struct {
	client  client
	harness string
	command []string
}

func (s snippet) name() string { return s.client.names(s.harness)[0] }
