package backfill

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
)

// A stamp is a time as harnesses write it: RFC 3339, or seconds or milliseconds since 1970, also as a text.
type stamp struct{ time.Time }

// UnmarshalJSON takes any of these. Of anything else it makes the zero time, and returns no error: the other fields
// count.
func (s *stamp) UnmarshalJSON(b []byte) error {
	text := string(b)
	_ = json.Unmarshal(b, &text) // a number stays as it is
	s.Time = timeOf(text)
	return nil
}

// timeOf reads such a time; zero: it is none.
func timeOf(text string) time.Time {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		switch {
		case n <= 0:
			return time.Time{}
		case n < 1e11: // seconds until the year 5138
			return time.UnixMilli(int64(math.Round(n * 1000)))
		}
		return time.UnixMilli(int64(n))
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, "2006-01-02 15:04:05Z", "2006-01-02 15:04Z"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	return time.Time{}
}

// modified returns when a file was written last, zero for one that is not there.
func modified(path string) (at time.Time) {
	if info, err := os.Stat(path); err == nil {
		at = info.ModTime()
	}
	return at
}

// latest returns the last of times.
func latest(times ...time.Time) (last time.Time) {
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}
