package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// eventsCommand prints what happened in a session.
type eventsCommand struct{ follow, json bool }

func newEvents(f *config.Flags, std term.Streams) *cobra.Command {
	var e eventsCommand
	cmd := &cobra.Command{
		Use: "events SESSION", Short: "Print what happened in a session, without what was said.", Args: cli.Arguments,
		Long: "Print what happened in a session, oldest first, without what was said. SESSION " + namesSession,

		ValidArgsFunction: cli.SessionIDs(f),
		RunE:              func(cmd *cobra.Command, args []string) error { return e.run(args[0], f, std) },
	}
	cmd.Flags().BoolVar(&e.follow, "follow", false, "Go on with what happens, until it is interrupted.")
	cmd.Flags().BoolVar(&e.json, "json", false, "Print JSON Lines for scripts.")
	return cmd
}

// followPause is how often --follow looks for new events.
const followPause = 200 * time.Millisecond

func (cmd *eventsCommand) run(name string, f *config.Flags, std term.Streams) error {
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		s, err := d.Resolve(ctx, name)
		if err != nil {
			return err
		}
		screen := term.On(std.Out)
		reader := telemetry.NewEventReader(d.Sessions, s.ID)
		for {
			all, err := reader.Next(ctx)
			if err != nil {
				return err
			}
			for _, e := range all {
				if cmd.json {
					var line []byte
					if line, err = json.Marshal(e); err == nil {
						_, err = std.Out.Write(append(chars.EscapeJSON(line), '\n'))
					}
				} else {
					err = report.Event(e, screen)
				}
				if err != nil {
					return err
				}
			}
			if !cmd.follow {
				return nil
			}
			time.Sleep(followPause) // a signal ends us
		}
	})
}
