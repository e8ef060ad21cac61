package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// newLog makes the command that prints a conversation.
func newLog(p program) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "log SESSION", Args: cli.Arguments,
		Short: "Print a conversation: who said what, the tools in between, what was inserted.",
		Long: "Print a conversation: who said what, the tools in between, and what was inserted. " +
			"SESSION " + namesSession,
		ValidArgsFunction: cli.SessionIDs(p.flags),
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
			s, err := d.Find(ctx, args[0])
			if err != nil {
				return err
			}
			said, err := d.Conversation(ctx, s.ID)
			if err != nil {
				return err
			}
			if asJSON {
				return term.JSON(p.std.Out, said)
			}
			return term.Page(p.std.Out, func(screen term.Screen) error { return report.Conversation(s, said, screen) })
		}),
	}
	cli.ForScripts(cmd, &asJSON)
	return cmd
}
