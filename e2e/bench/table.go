package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

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
