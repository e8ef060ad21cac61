package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// newUsage makes the command that sums up what was used.
func newUsage(p program) *cobra.Command {
	var (
		by string
		in correlation.Scope
	)
	cmd := &cobra.Command{
		Use: "usage", SuggestFor: []string{"stats", "cost", "tokens"},
		Short:   "Sum up tokens and cost, and what memory added to prompts.",
		Long:    "Sum up tokens and cost, as far as harnesses report them, and what memory added to prompts.",
		PreRunE: func(*cobra.Command, []string) error { return oneOf("--by", by, telemetry.Groupings) },
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, _ []string) error {
			used, err := telemetry.ReadUsage(ctx, d.Sessions.Book(), in,
				by == telemetry.ByDay || by == telemetry.ByWeek)
			if err != nil {
				return err
			}
			if !*p.asJSON {
				used.NameHarnesses(runtime.HarnessName)
			}
			sums := used.Sums(by)
			if len(sums) == 0 && !*p.asJSON {
				p.std.Say("no usage reported yet (signet-acp-proxy sessions lists the sessions)")
				return nil
			}
			return p.print(sums, func(s term.Screen) error { return report.Usage(sums, by, s) })
		}),
	}
	cmd.Flags().StringVar(&by, "by", telemetry.ByHarness, "Sums by `WHAT`: day, week, harness, project or session.")
	since(cmd, &in.Since, onlySince)
	complete(cmd, "by", cobra.FixedCompletions(telemetry.Groupings, cobra.ShellCompDirectiveNoFileComp))
	return p.forScripts(cmd)
}
