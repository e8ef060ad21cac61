package privacy

import "strings"

// Line returns a text as a daemon's transcript has it: on one line, without private passages and secrets, and with the
// tags made harmless that the daemon would take for its own. Prompts are handed over in this form everywhere, because a
// daemon that is given a prompt in two forms keeps the longer one.
func Line(text string) string {
	kept, _ := WithoutPrivate(text)
	return strings.Join(strings.Fields(Neutralise(Redact(kept))), " ")
}
