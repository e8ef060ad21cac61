// Package pattern holds regular expressions that are compiled when they are first used: most never are, and all of them
// together would cost every start of the proxy more than the rest of it.
package pattern

import (
	"regexp"
	"sync"
)

// A Pattern returns its regular expression, which the first call compiles. It may be called from several goroutines.
type Pattern func() *regexp.Regexp

// New makes the pattern of text, which must be valid: the first use of one that is not panics.
func New(text string) Pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
