package privacy

import "slices"

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
