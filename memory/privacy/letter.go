package privacy

import "strings"

// wordBytes are the bytes that names and tokens of any kind consist of. A word is an unbroken run of them.
var wordBytes = func() (set [256]bool) {
	for c := range set {
		set[c] = inName(byte(c)) || strings.IndexByte("~+/=%", byte(c)) >= 0
	}
	return set
}()

// inName reports whether c may stand in a name.
func inName(c byte) bool { return class(c) != 0 || c == '_' || c == '-' || c == '.' }

const minWord = 17 // bytes of the shortest key, prefix included

// unbroken reports whether s is letters and digits alone.
func unbroken(s string) bool {
	for i := range len(s) {
		if class(s[i]) == 0 {
			return false
		}
	}
	return true
}

func wordByte(c byte) bool { return class(c) != 0 || c == '_' }

// class returns the class of a byte: 'A' for upper case, 'a' for lower case, '0' for a digit, 0 for anything else.
func class(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return 'A'
	case 'a' <= c && c <= 'z':
		return 'a'
	case '0' <= c && c <= '9':
		return '0'
	}
	return 0
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
