package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// newAgents makes the command that lists agents.
func newAgents(p program) *cobra.Command {
	return p.forScripts(&cobra.Command{
		Use: "agents", Short: "List agents that can take tasks.",
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, _ []string) error {
			all, err := d.Agents(ctx)
			if err != nil {
				return err
			}
			return p.print(all, func(s term.Screen) error { return report.Agents(all, s) })
		}),
	})
}
