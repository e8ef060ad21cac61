package signet

import (
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// newlines makes every line end "\n".
func newlines(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// text returns an optional field of a reply, "" where it is missing.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// parseDate reads a date as daemons write it; the zero time for none.
func parseDate(s string) time.Time {
	for _, layout := range []string{"Jan 2, 2006", "January 2, 2006", time.RFC3339,
		"2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// itemDate matches the date that a daemon writes after a memory.
var itemDate = pattern.New(`\s*\(([A-Z][a-z]{2,8} \d{1,2}, \d{4}|\d{4}-\d{2}-\d{2}(?:[T ][0-9:.]+(?:Z|[+-]\d{2}:?\d{2})?)?|Invalid Date)(?:, [^()\n]*)?\)\s*$`)
