package main

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

//go:embed limits.yaml
var limitsFile []byte

// Limits are those of limits.yaml.
type limits struct {
	Stream, Peak, Private, Held float64
	Request, Start, Returned    time.Duration
}

func readLimits() (l limits, err error) {
	if err := yaml.Unmarshal(limitsFile, &l); err != nil {
		return l, fmt.Errorf("limits.yaml: %w", err)
	}
	return l, nil
}

// misses says where the proxy is further off than slack times its limits. Times are the best of all rounds: what else
// the machine does makes a median worse and not the best.
func (b *bench) misses(l limits, slack float64) (scenarios []scenario, misses []string) {
	for _, s := range b.judged {
		if missed := b.miss(s, l, slack); missed != nil {
			scenarios, misses = append(scenarios, s), append(misses, missed...)
		}
	}
	return scenarios, misses
}

func (b *bench) miss(s scenario, l limits, slack float64) (misses []string) {
	miss := func(format string, args ...any) { misses = append(misses, s.name+": "+fmt.Sprintf(format, args...)) }
	over := func(got time.Duration, than string, limit time.Duration) {
		if limit = scaled(limit, slack); got > limit {
			miss("%v above %s, limit %v", short(got), than, limit)
		}
	}
	mib := func(got float64, what string, limit float64) {
		if got > limit*slack {
			miss("%s %.1f MiB, limit %.1f", what, got, limit*slack)
		}
	}
	proxy, floor, direct := b.proxy.samples[s.name], b.floor.samples[s.name], b.direct.samples[s.name]
	took := best(proxy, sample.time)
	switch s.kind {
	case start:
		over(took-best(direct, sample.time), "direct", l.Start)
	case request:
		over(took-best(floor, sample.time), "cat", l.Request)
	case stream:
		if ratio := float64(took) / float64(best(floor, sample.time)); ratio > l.Stream*slack {
			miss("%.2f times cat, limit %.2f", ratio, l.Stream*slack)
		}
	case held:
		mib(best(proxy, sample.aboveIdle), "peak above the idle process", l.Held*heldSize/(1<<20))
		if back := best(proxy, func(s sample) time.Duration { return s.returned }); back > scaled(l.Returned, slack) {
			miss("its memory is back with the system after %v, limit %v", short(back), scaled(l.Returned, slack))
		}
		return misses
	}
	mib(best(proxy, sample.peakMiB), "peak", l.Peak)
	mib(best(proxy, sample.privateMiB), "private", l.Private)
	return misses
}

func scaled(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }

// judge fails for what misses the limits in all tries; a new try adds its rounds to those before, and the best of all
// count.
func (b *bench) judge(ctx context.Context, rounds, tries int, slack float64) error {
	l, err := readLimits()
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		again, misses := b.misses(l, slack)
		if len(misses) == 0 {
			fmt.Printf("\nall %d scenarios are within %g times the limits\n", len(b.judged), slack)
			return nil
		}
		fmt.Printf("\nmisses, try %d of %d:\n  %s\n", try, tries, strings.Join(misses, "\n  "))
		if try == tries {
			return fmt.Errorf("%d limits missed", len(misses))
		}
		if err := b.rounds(ctx, again, rounds); err != nil {
			return err
		}
	}
}
