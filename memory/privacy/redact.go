package privacy

import (
	"cmp"
	"slices"
)

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
	if s, ok := seen(text); ok {
		f := find(s.text, growing)
		for i, span := range f.spans {
			f.spans[i].start, f.spans[i].end = s.start(span.start), s.end(span.end)
		}
		f.open = s.start(f.open)
		return f
	}
	f := &findings{growing: growing, open: len(text)}
	f.pem(text)
	f.urls(text)
	slices.SortFunc(f.public, func(a, b finding) int { return cmp.Compare(a.start, b.start) })
	f.shapes(text)
	f.words(text)
	f.defaults(text)
	f.cookies(text)
	f.seeds(text)
	slices.SortStableFunc(f.spans, func(a, b finding) int { return cmp.Compare(a.start, b.start) })
	return f
}
