package privacy

import (
	"slices"
	"strings"
)

// Storable is what an agent said as it may be stored: without what it repeats of blocks, which are our own and would be
// remembered as if they were new, without what it or the user (private) marked private, and without secrets. growing
// says that more of it will come.
func Storable(text string, blocks, private []string, growing bool) string {
	return Clean(WithoutEcho(text, blocks), private, growing)
}

// Clean is text without what it or the user (private) marked private, and without secrets. growing says that more of it
// will come.
func Clean(text string, private []string, growing bool) string {
	text, own := WithoutPrivate(text)
	return Redact(Conceal(text, slices.Concat(own, private), growing))
}

// CutEnd is how the sign ends that stands in the place of what was cut out of a text.
const CutEnd = "…]"

// WithoutCut takes out what stands between a cut and a </private> whose beginning was cut off.
func WithoutCut(text string) string {
	parts := strings.Split(text, CutEnd)
	for i, part := range parts[1:] {
		if kept, private := WithoutPrivate("<private>" + part + "\x00"); kept != "" || len(private) > 1 {
			parts[i+1] = strings.TrimSuffix(kept, "\x00")
		}
	}
	return strings.Join(parts, CutEnd)
}
