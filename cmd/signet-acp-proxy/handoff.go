package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
)

// newHandoff makes the command that has another agent continue a conversation.
func newHandoff(p program) *cobra.Command {
	var to string
	var run bool
	cmd := &cobra.Command{
		Use: "handoff SESSION", Short: "Continue a conversation with another agent.", Args: cli.Arguments,
		Long: "Continue a conversation with another agent: the next session of that agent in the same project, " +
			"within an hour, is told how this one ended, once. Prints the command that starts it. SESSION " +
			namesSession,
		ValidArgsFunction: cli.SessionIDs(p.flags),
		PreRunE: func(*cobra.Command, []string) error {
			if to == "" {
				return cli.Misuse("--to is missing: name the agent that continues")
			}
			return nil
		},
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
			return p.handOff(ctx, d, args[0], to, run)
		}),
	}
	cmd.Flags().StringVar(&to, "to", "", "The `AGENT` that continues: any name that --agent takes.")
	cmd.Flags().BoolVar(&run, "run", false, "Start it through acpx instead of printing the command.")
	cli.Complete(cmd, "to", cli.AgentNames(p.flags))
	return cmd
}

// handOff hands a session over, and begins the next one or says how to.
func (p program) handOff(ctx context.Context, d *runtime.Data, session, to string, run bool) error {
	h, err := d.Handoff(ctx, session, to)
	if err != nil {
		return err
	}
	p.std.Say("the next session of %s in %s within an hour continues from there, in any client", h.To,
		runtime.HomeShort(h.Place()))
	if run {
		return h.Run(ctx, p.std)
	}
	_, err = fmt.Fprintln(p.std.Out, h.Command())
	return err
}
