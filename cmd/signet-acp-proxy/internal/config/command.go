package config

import (
	"errors"
	"strings"
)

// commandLine is a program and its arguments.
type commandLine []string

// SplitCommand splits a command line as acpx does: at white space, with quotes and backslashes, and nothing else of a
// shell's.
func SplitCommand(text string) (commandLine, error) {
	var words commandLine
	for text = strings.TrimLeft(text, space); text != ""; text = strings.TrimLeft(text, space) {
		word, rest, err := firstWord(text)
		if err != nil {
			return nil, err
		}
		words, text = append(words, word), rest
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("names no program")
	}
	return words, nil
}

const space = " \t\n" // between words

// firstWord takes the word that a command line begins with.
func firstWord(text string) (word, rest string, err error) {
	var w strings.Builder
	quote, escaped := rune(0), false
	for i, r := range text {
		switch {
		case escaped:
			if escaped = false; quote != 0 && !strings.ContainsRune(`"\`, r) {
				w.WriteByte('\\')
			}
			w.WriteRune(r)
		case r == '\\' && quote != '\'' && i+1 < len(text):
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && strings.ContainsRune(`"'`, r):
			quote = r
		case quote == 0 && strings.ContainsRune(space, r):
			return w.String(), text[i:], nil
		default:
			w.WriteRune(r)
		}
	}
	if quote != 0 {
		return "", "", errors.New("a quote is not closed")
	}
	return w.String(), "", nil
}
