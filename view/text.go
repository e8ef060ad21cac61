package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// An excerpt is what was said, or its beginning.
type excerpt struct {
	Body string
	More string // how much is left out; "" for nothing
}

// cut keeps the beginning of a text, most bytes of it; the whole of it has size bytes.
func (t *excerpt) cut(size, most int) {
	t.Body = chars.Cut(t.Body, most)
	if left := size - len(t.Body); left > 0 {
		t.More = telemetry.Bytes(int64(left))
	}
}

// tokens returns reported tokens in words.
func tokens(input, output *int64) string {
	switch {
	case input == nil && output == nil:
		return ""
	case input == nil:
		return telemetry.Figure(*output) + " tokens out"
	case output == nil:
		return telemetry.Figure(*input) + " tokens in"
	}
	return telemetry.Figure(*input) + " tokens in, " + telemetry.Figure(*output) + " out"
}

// took returns a duration in words.
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	words := d.Round(time.Second).String()
	if minutes, whole := strings.CutSuffix(words, "m0s"); whole {
		return minutes + "m"
	}
	return words
}

// count returns a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return telemetry.Figure(int64(n)) + " " + many
}

// brief returns a number in a few characters: 2.7k.
func brief(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 100_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// when returns a time as a list has it: of today the hour, else the day.
func when(now, at time.Time) string {
	now, at = now.Local(), at.Local()
	switch {
	case now.Format(time.DateOnly) == at.Format(time.DateOnly):
		return at.Format("15:04")
	case now.Year() == at.Year():
		return at.Format("2 Jan")
	}
	return at.Format("Jan 2006")
}
