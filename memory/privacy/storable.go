package privacy

import "slices"

// Storable returns what an agent said as it may be stored: without what it repeats of our own context blocks, which
// would be remembered as if it were new; without what it marked private itself, or repeats of the user's private
// passages; and without secrets. growing says that more of the text will come.
func Storable(text string, blocks, private []string, growing bool) string {
	return Clean(WithoutEcho(text, blocks), private, growing)
}

// Clean returns text without what it marks private, without what it repeats of the private passages, and without
// secrets. growing says that more of the text will come.
func Clean(text string, private []string, growing bool) string {
	text, own := WithoutPrivate(text)
	return Redact(Conceal(text, slices.Concat(own, private), growing))
}
