package upstream

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Steered returns a warning where files of the current folder may choose what the command starts; "" where none can.
func (o Options) Steered() string {
	here, err := os.Getwd()
	if err != nil || o.adapter != nil || len(o.Command) < 2 {
		return ""
	}
	for _, s := range steers {
		isCommand := s.command == "" || slices.Contains(strings.Fields(s.command), o.Command[1])
		if programName(o.Command[0]) != s.program || !isCommand {
			continue
		}
		for _, file := range strings.Fields(s.file) {
			if path := above(here, file); path != "" {
				return fmt.Sprintf("%s may choose what %s starts: install the agent, or start it with "+
					"npx -y --package=PACKAGE PROGRAM", path, s.program)
			}
		}
	}
	return ""
}

// above returns the path of a file in a folder or the nearest one above it; "" where there is none, or only the user's
// own in the home folder.
func above(dir, file string) string {
	home, _ := os.UserHomeDir()
	for ; dir != home; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, file)
		if _, err := os.Lstat(path); err == nil {
			return path
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return ""
}

// steers are files by which a folder, or one above it, chooses what these programs start.
var steers = []struct{ program, command, file string }{
	{"npx", "", ".npmrc node_modules/.bin package.json"},
	{"npm", "exec x", ".npmrc node_modules/.bin package.json"},
	{"bunx", "", ".npmrc bunfig.toml node_modules/.bin package.json"},
	{"bun", "x", ".npmrc bunfig.toml node_modules/.bin package.json"},
	{"pnpx", "", ".npmrc package.json pnpm-workspace.yaml"},
	{"pnpm", "dlx", ".npmrc package.json pnpm-workspace.yaml"},
	{"yarn", "dlx", ".npmrc .yarnrc .yarnrc.yml package.json"},
}
