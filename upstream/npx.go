package upstream

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An npxCall is a command line of npx's, taken apart.
type npxCall struct {
	npx      []string // npx, or npm exec
	options  []string // but those that name packages or say yes
	packages []string // none where the first word of run is one
	run      []string
}

// npxSwitches are options of npx without a value: of any other, the next word may be one.
var npxSwitches = []string{"-q", "--quiet", "-s", "--silent", "--offline", "--prefer-offline", "--prefer-online",
	"--ignore-scripts"}

// npxOf takes a call of npx apart, in all spellings that say which words are whose.
func npxOf(command []string) (c npxCall, ok bool) {
	name := programName(command[0])
	words := slices.Clone(command[1:])
	switch isExec := len(words) > 0 && (words[0] == "exec" || words[0] == "x"); {
	case name == "npx":
		c.npx = command[:1:1]
	case name == "npm" && isExec:
		c.npx, words = command[:2:2], words[1:]
	default:
		return c, false
	}
	words, ok = c.takeOptions(words, name == "npx")
	if !ok {
		return c, false
	}
	isMarked := len(words) > 0 && words[0] == "--"
	if isMarked {
		words = words[1:]
	}
	c.run = words
	// Without the mark, npm exec takes options behind the package for its own.
	isOurs := name == "npx" || isMarked ||
		!slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "-") })
	return c, isOurs && len(words) > 0
}

// takeOptions takes the options in front of what is run, and returns the words behind them; npx says that -p names a
// package.
func (c *npxCall) takeOptions(words []string, npx bool) (rest []string, ok bool) {
	for ; len(words) > 0 && strings.HasPrefix(words[0], "-") && words[0] != "--"; words = words[1:] {
		option, value, has := strings.Cut(words[0], "=")
		switch {
		case option == "--package" || option == "-p" && npx:
			if !has && len(words) > 1 {
				value, words = words[1], words[1:]
			}
			c.packages = append(c.packages, value)
		case words[0] == "-y" || words[0] == "--yes":
		case has || slices.Contains(npxSwitches, option):
			c.options = append(c.options, words[0])
		default:
			return nil, false
		}
	}
	return words, true
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
