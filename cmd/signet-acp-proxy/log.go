package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// logCommand prints a conversation.
type logCommand struct{ json bool }

func newLog(f *config.Flags, std term.Streams) *cobra.Command {
	var l logCommand
	cmd := &cobra.Command{
		Use: "log SESSION", Args: cli.Arguments,
		Short: "Print a conversation: who said what, the tools in between, what was inserted.",
		Long: "Print a conversation: who said what, the tools in between, and what was inserted. " +
			"SESSION " + namesSession,
		ValidArgsFunction: cli.SessionIDs(f),
		RunE:              func(_ *cobra.Command, args []string) error { return l.run(args[0], f, std) },
	}
	cli.ForScripts(cmd, &l.json)
	return cmd
}

func (cmd *logCommand) run(name string, f *config.Flags, std term.Streams) error {
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		s, err := d.Find(ctx, name)
		if err != nil {
			return err
		}
		said, err := d.Conversation(ctx, s.ID)
		if err != nil {
			return err
		}
		if cmd.json {
			return term.JSON(std.Out, said)
		}
		return term.Page(std.Out, func(screen term.Screen) error { return report.Conversation(s, said, screen) })
	})
}
