package upstream

import (
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
