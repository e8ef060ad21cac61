package language

import (
	"regexp"
	"sync"
)

// A pattern is a regular expression that is compiled when it is first used: a proxy that has nothing to distil or
// recall yet must start without them.
type pattern func() *regexp.Regexp

func newPattern(text string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
