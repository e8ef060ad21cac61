package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// followPause is how often --follow looks for new events.
const followPause = 200 * time.Millisecond

// newEvents makes the command that prints what happened in a session.
func newEvents(p program) *cobra.Command {
	var follow, asJSON bool
	cmd := &cobra.Command{
		Use: "events SESSION", Short: "Print what happened in a session, without what was said.", Args: cli.Arguments,
		Long: "Print what happened in a session, oldest first, without what was said. SESSION " + namesSession,

		ValidArgsFunction: cli.SessionIDs(p.flags),
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
			s, err := d.Resolve(ctx, args[0])
			if err != nil {
				return err
			}
			reader := telemetry.NewEventReader(d.Sessions, s.ID)
			for {
				all, err := reader.Next(ctx)
				if err != nil {
					return err
				}
				for _, e := range all {
					show := func(screen term.Screen) error { return report.Event(e, screen) }
					if err := p.printLine(asJSON, e, show); err != nil {
						return err
					}
				}
				if !follow {
					return nil
				}
				time.Sleep(followPause) // a signal ends us
			}
		}),
	}
	cmd.Flags().BoolVar(&follow, "follow", false, "Keep printing what happens, until you interrupt it.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON Lines for scripts.")
	return cmd
}
