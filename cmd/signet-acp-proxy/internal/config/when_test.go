package config

import (
	"testing"
	"time"
)

func TestParseWhen(t *testing.T) {
	zone := time.FixedZone("", 2*3600)
	now := time.Date(2026, 10, 3, 12, 0, 0, 0, zone)
	for text, want := range map[string]time.Time{
		"2026-10-01":           time.Date(2026, 10, 1, 0, 0, 0, 0, zone),
		"2026-10-01 09:30":     time.Date(2026, 10, 1, 9, 30, 0, 0, zone),
		"2026-10-01T09:30:00Z": time.Date(2026, 10, 1, 9, 30, 0, 0, time.UTC),
		"7d":                   now.AddDate(0, 0, -7),
		"90m":                  now.Add(-90 * time.Minute),
	} {
		if got, err := ParseWhen(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "soon", "-3h", "0d", "2026-13-01", "7"} {
		if got, err := ParseWhen(text, now); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestParseAge(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90d": 90 * 24 * time.Hour, "36h": 36 * time.Hour,
		"": 0, "d": 0, "-1d": 0, "0d": 0, "9999999999999d": 0, "soon": 0,
	} {
		if got, err := ParseAge(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("ParseAge(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]byteSize{"2GB": 2e9, "500 mb": 5e8, "1KB": 1e3, "12B": 12, "0": 0, "0GB": 0,
		"1500MB": 1.5e9} {
		got, err := parseSize(text)
		if err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
		if again, err := parseSize(got.String()); err != nil || again != want {
			t.Errorf("%s is shown as %s", text, got)
		}
	}
	for _, text := range []string{"", "2", "GB", "-1GB", "1.5GB", "99999999999GB", "2TB"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}
