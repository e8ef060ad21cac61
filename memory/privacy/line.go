package privacy

import "strings"

// Line is what of a text a daemon may be given, as it stands in a transcript: on one line, without private passages and
// secrets, and with marks that a daemon would take for its own made harmless. A daemon that is given a prompt in two
// forms keeps the longer one, so there is one form.
func Line(text string) string {
	kept, _ := WithoutPrivate(text)
	return strings.Join(strings.Fields(Neutralise(Redact(kept))), " ")
}
