// Command bench measures what the proxy costs: the same conversations directly with an agent, through `cat | agent | cat`
// (the least that any proxy can cost) and through the proxy with its default configuration, memory embedded and turns
// captured. Rounds are interleaved and medians shown, so that a busy machine disturbs all three alike; compare inside one
// table only. Every run also checks that all bytes arrived, in order.
//
//	go run ./e2e/bench -proxy bin/signet-acp-proxy
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/sandbox"
)

// A scenario is a conversation of which one part is timed.
type scenario struct {
	name string
	run  func(c *client) (time.Duration, error) // nil: the start-up alone
}

var scenarios = []scenario{
	{"startup", nil},
	{"pingpong", func(c *client) (time.Duration, error) { return c.pings(2000) }},
	{"tokens", func(c *client) (time.Duration, error) { return c.down(20_000, 300, true) }},
	{"down-200B", func(c *client) (time.Duration, error) { return c.down(200_000, 200, false) }},
	{"down-4KB", func(c *client) (time.Duration, error) { return c.down(20_000, 4<<10, false) }},
	{"down-64KB", func(c *client) (time.Duration, error) { return c.down(2_000, 64<<10, false) }},
	{"down-1MB", func(c *client) (time.Duration, error) { return c.down(100, 1<<20, false) }},
	{"down-20MB", func(c *client) (time.Duration, error) { return c.down(4, 20<<20, false) }},
	{"up-4KB", func(c *client) (time.Duration, error) { return c.up(500, 4<<10) }},
	{"up-1MB", func(c *client) (time.Duration, error) { return c.up(40, 1<<20) }},
	{"up-20MB", func(c *client) (time.Duration, error) { return c.up(4, 20<<20) }},
}

// A variant is a way to reach the agent.
type variant struct {
	name    string
	command []string
	times   map[string][]time.Duration
	peak    map[string]int64 // bytes, the largest of all rounds
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	agent := flag.Bool("agent", false, "be the agent")
	proxy := flag.String("proxy", "", "the built signet-acp-proxy")
	identity := flag.String("identity", filepath.Join("e2e", "testdata", "agents"), "a folder of identity files")
	rounds := flag.Int("rounds", 5, "how often each scenario is run")
	only := flag.String("only", ".", "scenarios to run, a regular expression")
	flag.Parse()
	var err error
	if *agent {
		err = serve(os.Stdin, os.Stdout)
	} else {
		err = bench(ctx, *proxy, *identity, *rounds, *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, proxy, identity string, rounds int, only string) (err error) {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if proxy == "" {
		return errors.New("-proxy must name the built program")
	}
	if proxy, err = filepath.Abs(proxy); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	box, err := sandbox.New()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	if err := box.CopyIdentity(identity); err != nil {
		return err
	}

	variants := []*variant{
		{name: "direct", command: []string{self, "-agent"}},
		{name: "cat", command: []string{"sh", "-c", `cat | "$0" -agent | cat`, self}},
		{name: "proxy", command: []string{proxy, "--memory", "embedded", "--", self, "-agent"}},
	}
	for _, v := range variants {
		v.times, v.peak = map[string][]time.Duration{}, map[string]int64{}
	}
	for round := range rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, rounds)
		for _, s := range scenarios {
			if !wanted.MatchString(s.name) {
				continue
			}
			for _, v := range variants {
				took, peak, err := measure(ctx, box, v.command, s.run)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", s.name, v.name, err)
				}
				v.times[s.name] = append(v.times[s.name], took)
				v.peak[s.name] = max(v.peak[s.name], peak)
			}
		}
	}
	return table(variants)
}

func table(variants []*variant) error {
	direct, cat, proxy := variants[0], variants[1], variants[2]
	fmt.Printf("%s, %d CPUs, %s/%s\n\n", time.Now().Format(time.DateOnly), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "scenario\tdirect\tcat\tproxy\tx direct\tx cat\tpeak MiB\t")
	for _, s := range scenarios {
		if len(proxy.times[s.name]) == 0 {
			continue
		}
		d, c, p := median(direct.times[s.name]), median(cat.times[s.name]), median(proxy.times[s.name])
		fmt.Fprintf(w, "%s\t%v\t%v\t%v\t%.2f\t%.2f\t%.1f\t\n", s.name, short(d), short(c), short(p),
			float64(p)/float64(d), float64(p)/float64(c), float64(proxy.peak[s.name])/(1<<20))
	}
	return w.Flush()
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

func short(d time.Duration) time.Duration {
	if d < 10*time.Millisecond {
		return d.Round(time.Microsecond)
	}
	return d.Round(100 * time.Microsecond)
}
