// Package privacy decides what of a text may be kept and said: it takes out secrets (Redact) and what the user marked
// private (WithoutPrivate, Clean), and makes foreign text safe to stand inside a block of ours (Neutralise). A Stream
// does it with text that arrives in pieces. Text in, text out: it knows no sessions and no protocol, and stores digests
// alone (File).
package privacy

import (
	"cmp"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

// Safe takes out of foreign text what must not be said to a model: invisible characters, private passages, secrets, and
// the tags to which a harness gives a meaning.
func Safe(text string) string {
	text, _ = WithoutPrivate(visible(text))
	return unmark(Redact(text))
}

// Line returns a text as a daemon's transcript has it: on one line, without private passages and secrets, and with the
// tags made harmless that the daemon would take for its own. Prompts are delivered in this form everywhere, because a
// daemon that is given a prompt in two forms keeps the longer one.
func Line(text string) string {
	kept, _ := WithoutPrivate(text)
	return chars.OneLine(Neutralise(Redact(kept)))
}

// Clean returns text as it may be stored: without what it marks private, without what it repeats of the private
// passages, and without secrets.
func Clean(text string, private []string) string {
	text, own := WithoutPrivate(text)
	var c concealer
	c.learn(slices.Concat(own, private))
	return Redact(c.add(text, true))
}

// Redact puts [redacted:kind] in the place of secrets: keys of the known providers, tokens in authorization headers,
// JWTs, private PEM blocks, passwords in URLs, values assigned to secret-like names, and strings too random to be
// anything else. What people need to find their way stays: commit and lock file hashes, UUIDs, paths, identifiers,
// public keys. Text without secrets is given back as it is. Redacting twice changes nothing more, for all practical
// text.
func Redact(text string) string {
	return find(text, false).replace(text, 0, len(text))
}

// find tries all rules. growing says that more text will come: spans that it may change are noted (findings.open).
func find(text string, growing bool) *findings {
	if seen, cuts := seen(text); cuts != nil {
		f := find(seen, growing)
		for i, span := range f.spans {
			f.spans[i].start, f.spans[i].end = inWhole(cuts, span.start), inWhole(cuts, span.end-1)+1
		}
		f.open = inWhole(cuts, f.open)
		return f
	}
	f := &findings{growing: growing, open: len(text)}
	f.pem(text)
	f.urls(text)
	slices.SortFunc(f.public, func(a, b finding) int { return cmp.Compare(a.start, b.start) })
	f.triggered(text)
	f.words(text)
	f.seeds(text)
	f.spans = append(f.spans, f.named...)
	slices.SortStableFunc(f.spans, func(a, b finding) int { return cmp.Compare(a.start, b.start) })
	return f
}
