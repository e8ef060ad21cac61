package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// handoffCommand has another agent continue a conversation.
type handoffCommand struct {
	to  string
	run bool
}

func newHandoff(f *config.Flags, std term.Streams) *cobra.Command {
	var h handoffCommand
	cmd := &cobra.Command{
		Use: "handoff SESSION", Short: "Continue a conversation with another agent.", Args: cli.Arguments,
		Long: "Continue a conversation with another agent: the next session of that agent in the same project, " +
			"within an hour, is told how this one ended, once. Prints the command that begins it. SESSION " +
			namesSession,
		ValidArgsFunction: cli.SessionIDs(f),
		RunE:              func(_ *cobra.Command, args []string) error { return h.do(args[0], f, std) },
	}
	cmd.Flags().StringVar(&h.to, "to", "", "The `AGENT` that goes on, by any name that --agent takes.")
	cmd.Flags().BoolVar(&h.run, "run", false, "Begin it, through acpx, in place of printing the command.")
	cli.Complete(cmd, "to", cli.AgentNames(f))
	return cmd
}

func (h handoffCommand) do(session string, f *config.Flags, std term.Streams) error {
	if h.to == "" {
		return cli.Misuse("--to is missing: name the agent that continues")
	}
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		return h.leave(ctx, d, session, std)
	})
}

// leave hands a session over, and says how to begin the next one.
func (h handoffCommand) leave(ctx context.Context, d *runtime.Data, session string, std term.Streams) error {
	left, err := d.Handoff(ctx, session, h.to)
	if err != nil {
		return err
	}
	std.Say("the next session of %s in %s within an hour continues from there, in any client", left.To,
		runtime.HomeShort(left.Place()))
	if h.run {
		return left.Run(ctx, std)
	}
	_, err = fmt.Fprintln(std.Out, left.Command())
	return err
}
