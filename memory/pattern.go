package memory

import (
	"regexp"
	"sync"
)

// A pattern is a regular expression that is compiled when it is first used: most never are, and all of them together would cost every start of the
// proxy more than the rest of it.
type pattern func() *regexp.Regexp

func newPattern(text string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
