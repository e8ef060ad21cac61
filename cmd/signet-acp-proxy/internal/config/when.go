package config

import (
	"errors"
	"fmt"
	"time"
)

// ParseWhen reads a date, a time (RFC 3339), or an age such as 7d or 12h before now.
func ParseWhen(text string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", "2006-01-02T15:04"} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	if age, err := parseDuration(text); err == nil && age > 0 {
		return now.Add(-age), nil
	}
	return time.Time{}, fmt.Errorf("must be a date (2026-10-03), a time (RFC 3339) or an age (7d, 12h), not %q", text)
}

// ParseAge reads an age such as 90d, 12w or 36h.
func ParseAge(text string) (time.Duration, error) {
	age, err := parseDuration(text)
	if err != nil || age <= 0 {
		return 0, errors.New("must be an age such as 90d, 12w or 36h")
	}
	return age, nil
}
