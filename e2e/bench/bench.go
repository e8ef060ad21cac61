package main

import (
	"context"
	"fmt"
	"os"

	"github.com/Signet-AI/signet-acp-proxy/e2e/sandbox"
)

// A variant is a way to reach the agent.
type variant struct {
	name    string
	command []string
	samples map[string][]sample // by scenario
}

// A bench has what is compared, the scenarios, and the samples taken so far.
type bench struct {
	box                  *sandbox.Sandbox
	scenarios, judged    []scenario
	direct, floor, proxy *variant
}

func (b *bench) variants() []*variant { return []*variant{b.direct, b.floor, b.proxy} }

func (b *bench) rounds(ctx context.Context, scenarios []scenario, rounds int) error {
	for round := range rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, rounds)
		for _, s := range scenarios {
			for _, v := range b.variants() {
				got, err := measure(ctx, b.box, v.command, s, v == b.proxy)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", s.name, v.name, err)
				}
				v.samples[s.name] = append(v.samples[s.name], got)
			}
		}
	}
	return nil
}
