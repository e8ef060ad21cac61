package main

import (
	"cmp"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A sample is one run of a scenario by one variant.
type sample struct {
	took     time.Duration
	frames   int
	used     usage         // cpu: of the scenario alone
	idle     int64         // bytes resident before it
	returned time.Duration // of a held prompt: until its memory was back with the system
}

func (s sample) time() time.Duration { return s.took }
func (s sample) peakMiB() float64    { return float64(s.used.peak) / (1 << 20) }
func (s sample) aboveIdle() float64  { return float64(s.used.peak-s.idle) / (1 << 20) }
func (s sample) privateMiB() float64 { return float64(s.used.private) / (1 << 20) }
func (s sample) perFrame() time.Duration {
	return s.used.cpu / time.Duration(max(1, s.frames))
}

func best[T cmp.Ordered](samples []sample, of func(sample) T) T { return of(sorted(samples, of)[0]) }

func median[T cmp.Ordered](samples []sample, of func(sample) T) T {
	return of(sorted(samples, of)[len(samples)/2])
}

func sorted[T cmp.Ordered](samples []sample, of func(sample) T) []sample {
	return slices.SortedFunc(slices.Values(samples), func(a, b sample) int { return cmp.Compare(of(a), of(b)) })
}

// short rounds to three digits or so.
func short(d time.Duration) time.Duration {
	switch {
	case d < 10*time.Microsecond:
		return d.Round(10 * time.Nanosecond)
	case d < 10*time.Millisecond:
		return d.Round(time.Microsecond)
	default:
		return d.Round(100 * time.Microsecond)
	}
}

func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
