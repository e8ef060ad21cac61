package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/files"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// newUsage makes the command that sums up what was used.
func newUsage(p program) *cobra.Command {
	var (
		by string
		in correlation.Scope
	)
	cmd := &cobra.Command{
		Use: "usage", Short: "Sum up tokens and cost, and what memory added to prompts.",
		Long:    "Sum up tokens and cost, as far as harnesses report them, and what memory added to prompts.",
		PreRunE: func(*cobra.Command, []string) error { return oneOf("--by", by, telemetry.Groupings) },
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, _ []string) error {
			used, err := telemetry.ReadUsage(ctx, d.Sessions, in)
			if err != nil {
				return err
			}
			sums := used.Sums(by)
			if len(sums) == 0 && !*p.asJSON {
				p.std.Say("no usage reported yet (signet-acp-proxy sessions lists the sessions)")
				return nil
			}
			return p.print(sums, func(s term.Screen) error { return report.Usage(sums, by, s) })
		}),
	}
	cmd.Flags().StringVar(&by, "by", telemetry.ByHarness, "Sums by `WHAT`: day, harness, project or session.")
	since(cmd, &in.Since, onlySince)
	complete(cmd, "by", cobra.FixedCompletions(telemetry.Groupings, cobra.ShellCompDirectiveNoFileComp))
	return p.forScripts(cmd)
}

// newExport makes the commands that hand what was recorded to other programs.
func newExport(p program) *cobra.Command {
	var o telemetry.Export
	var out, endpoint string
	cmd := &cobra.Command{
		Use: "otlp", Short: "Spans and metrics of sessions as OTLP JSON.",
		Long: "Spans and metrics of sessions as OTLP JSON, with gen_ai's names: on stdout, in a file, or to an " +
			"endpoint; what was said and inserted only if you ask for it.",
		PreRunE: func(*cobra.Command, []string) error {
			if out != "" && endpoint != "" {
				return misuse("--out or --endpoint, not both")
			}
			return nil
		},
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, _ []string) error {
			o.Version = runtime.Version
			turns, err := 0, error(nil)
			switch {
			case endpoint != "":
				turns, err = o.Post(ctx, d.Sessions, endpoint)
			case out != "":
				err = files.Replace(out, 0o600, func(w io.Writer) (err error) {
					turns, err = o.Write(ctx, d.Sessions, w)
					return err
				})
			default:
				_, err = o.Write(ctx, d.Sessions, p.std.Out)
				return err
			}
			if err == nil {
				p.std.Say("%s", term.Count(turns, "turn"))
			}
			return err
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&out, "out", "", "Write to this `FILE`.")
	flags.StringVar(&endpoint, "endpoint", "", "Send to this `URL`, such as http://127.0.0.1:4318.")
	flags.BoolVar(&o.WithText, "with-text", false, "Include what was said and inserted.")
	since(cmd, &o.Since, onlySince)
	complete(cmd, "out", paths)
	return group("export", "Export what was recorded for other programs.", cmd)
}
