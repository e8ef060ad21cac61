// Command bench measures what the proxy costs: the same conversations directly with an agent, through `cat | agent |
// cat` (the least that any proxy can cost) and through the proxy with its default configuration, memory embedded and
// turns captured. Rounds are interleaved and medians shown, so that a busy machine disturbs all three alike; compare
// inside one table only. Every run also checks that all bytes arrived, in order.
//
//	go run ./e2e/bench -proxy bin/signet-acp-proxy
//	go run ./e2e/bench -proxy bin/signet-acp-proxy -limits          # and fail for what misses limits.yaml
//	go run ./e2e/bench -proxy bin/signet-acp-proxy -scale 100000    # with many sessions, turns and processes
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"

	"github.com/Signet-AI/signet-acp-proxy/e2e/sandbox"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	agent := flag.Bool("agent", false, "be the agent")
	flag.StringVar(&o.proxy, "proxy", "", "the built signet-acp-proxy")
	flag.StringVar(&o.identity, "identity", filepath.Join("e2e", "testdata", "agents"), "a folder of identity files")
	flag.IntVar(&o.rounds, "rounds", 5, "how often each scenario is run")
	flag.StringVar(&o.only, "only", ".", "scenarios to run, a regular expression")
	flag.StringVar(&o.page, "into", "", "a page whose table is replaced by this one")
	flag.BoolVar(&o.limits, "limits", false, "say what misses limits.yaml, and fail")
	flag.Float64Var(&o.slack, "slack", 1, "with -limits: miss by more than this many times")
	flag.IntVar(&o.tries, "tries", 1, "with -limits: how often what misses is run again before it does")
	flag.IntVar(&o.scale, "scale", 0, "how it grows, up to so many sessions in the database, in place of all that")
	flag.Parse()
	var err error
	if *agent {
		err = serve(os.Stdin, os.Stdout)
	} else {
		err = o.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	proxy, identity, only, page string
	rounds, tries, scale        int
	limits                      bool
	slack                       float64
}

func (o options) run(ctx context.Context) (err error) {
	wanted, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	if o.proxy == "" {
		return errors.New("-proxy must name the built program")
	}
	if o.rounds < 1 || o.tries < 1 {
		return errors.New("-rounds and -tries must be 1 at least")
	}
	proxy, err := filepath.Abs(o.proxy)
	if err != nil {
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
	if err := box.CopyIdentity(o.identity); err != nil {
		return err
	}
	if o.scale > 0 {
		return growth{box: box, command: []string{proxy, "--", self, "-agent"}, proxy: proxy}.run(ctx, o.scale)
	}
	b := &bench{
		box:    box,
		direct: &variant{name: "direct", command: []string{self, "-agent"}},
		floor:  &variant{name: "cat", command: []string{"sh", "-c", `cat | "$0" -agent | cat`, self}},
		proxy:  &variant{name: "proxy", command: []string{proxy, "--memory", "embedded", "--", self, "-agent"}},
	}
	for _, v := range b.variants() {
		v.samples = map[string][]sample{}
	}
	for i, s := range scenarios {
		if i == 0 || wanted.MatchString(s.name) { // others are compared with a start
			b.scenarios = append(b.scenarios, s)
		}
		if wanted.MatchString(s.name) {
			b.judged = append(b.judged, s)
		}
	}
	if err := b.rounds(ctx, b.scenarios, o.rounds); err != nil {
		return err
	}
	var table bytes.Buffer
	if err := b.table(&table, o.rounds); err != nil {
		return err
	}
	os.Stdout.Write(table.Bytes())
	if o.page != "" {
		if err := into(o.page, table.String()); err != nil {
			return err
		}
	}
	if o.limits {
		return b.judge(ctx, o.rounds, o.tries, o.slack)
	}
	return nil
}
