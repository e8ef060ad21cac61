package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// usageCommand sums up what was used.
type usageCommand struct {
	by, since string
	json      bool
}

func newUsage(f *config.Flags, std term.Streams) *cobra.Command {
	var u usageCommand
	cmd := &cobra.Command{
		Use: "usage", Short: "Sum up tokens and cost, and what memory added to prompts.", Args: cli.Arguments,
		Long: "Sum up tokens and cost, as far as harnesses report them, and what memory added to prompts.",
		RunE: func(*cobra.Command, []string) error { return u.run(f, std) },
	}
	flags := cmd.Flags()
	flags.StringVar(&u.by, "by", telemetry.ByHarness, "Sums by `WHAT`: day, harness, project or session.")
	cli.Since(cmd, &u.since)
	cli.Complete(cmd, "by", cobra.FixedCompletions(telemetry.Groupings, cobra.ShellCompDirectiveNoFileComp))
	cli.ForScripts(cmd, &u.json)
	return cmd
}

func (cmd *usageCommand) run(f *config.Flags, std term.Streams) error {
	if err := cli.OneOf("--by", cmd.by, telemetry.Groupings); err != nil {
		return err
	}
	since, err := cli.ParseSince(cmd.since)
	if err != nil {
		return err
	}
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		used, err := telemetry.ReadUsage(ctx, d.Sessions, correlation.Scope{Since: since})
		if err != nil {
			return err
		}
		sums := used.Sums(cmd.by)
		if cmd.json {
			return term.JSON(std.Out, sums)
		}
		if len(sums) == 0 {
			std.Say("no usage reported yet (signet-acp-proxy sessions lists the sessions)")
			return nil
		}
		return report.Usage(sums, cmd.by, term.On(std.Out))
	})
}
