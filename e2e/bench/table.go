package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// A sample is one run of a scenario by one variant.
type sample struct {
	took     time.Duration
	frames   int
	used     usage         // cpu: of the scenario alone
	returned time.Duration // of a held prompt: until its memory was back with the system
}

func (s sample) time() time.Duration { return s.took }
func (s sample) peakMiB() float64    { return float64(s.used.peak) / (1 << 20) }
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

// table writes what was measured, medians, with the commit that the program was built from.
func (b *bench) table(to io.Writer, rounds int) error {
	fmt.Fprintf(to, "commit %s, %s, %d CPUs, %s/%s, medians of %d rounds\n\n",
		commit(), time.Now().Format(time.DateOnly), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, rounds)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "scenario\tdirect\tcat\tproxy\tx direct\tx cat\tCPU/frame\tpeak MiB\tprivate MiB\t")
	for _, s := range b.scenarios {
		d, c, p := b.direct.samples[s.name], b.floor.samples[s.name], b.proxy.samples[s.name]
		dt, ct, pt := median(d, sample.time), median(c, sample.time), median(p, sample.time)
		fmt.Fprintf(w, "%s\t%v\t%v\t%v\t%.2f\t%.2f\t%v\t%.1f\t%.1f\t\n", s.name, short(dt), short(ct), short(pt),
			float64(pt)/float64(dt), float64(pt)/float64(ct), short(median(p, sample.perFrame)), median(p,
				sample.peakMiB), median(p, sample.privateMiB))
	}
	return w.Flush()
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

// Where the table stands in a page.
const (
	tableBegin = "<!-- table: make bench-readme -->\n"
	tableEnd   = "<!-- end -->"
)

// into replaces the table in a page.
func into(path, table string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(page), tableBegin)
	_, after, ended := strings.Cut(rest, tableEnd)
	if !found || !ended {
		return fmt.Errorf("%s has no place for the table: %q and %q", path, tableBegin, tableEnd)
	}
	return os.WriteFile(path, []byte(before+tableBegin+"```text\n"+table+"```\n"+tableEnd+after), 0o644)
}
