// Package privacy decides what of a text may be kept and said: it takes out secrets (Redact) and what the user marked
// private (WithoutPrivate, Conceal), and makes foreign text safe to stand inside a block of ours (Neutralise). A Stream
// does it with text that arrives in pieces. Text in, text out: it knows no sessions, no protocol and no storage.
package privacy

// Safe takes out of foreign text what must not be said to a model: invisible characters, private passages, secrets, and
// the tags to which a harness gives a meaning.
func Safe(text string) string {
	text, _ = WithoutPrivate(visible(text))
	return unmark(Redact(text))
}
