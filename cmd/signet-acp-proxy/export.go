package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/files"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// newExport makes the commands that hand what was recorded to other programs.
func newExport(p program) *cobra.Command {
	var o telemetry.Export
	var out, endpoint string
	cmd := &cobra.Command{
		Use: "otlp", Short: "Spans and metrics of sessions as OTLP JSON.", Args: cli.Arguments,
		Long: "Spans and metrics of sessions as OTLP JSON, with gen_ai's names: on stdout, in a file, or to an " +
			"endpoint; what was said and inserted only if you ask for it.",
		PreRunE: func(*cobra.Command, []string) error {
			if out != "" && endpoint != "" {
				return cli.Misuse("--out or --endpoint, not both")
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
	cli.Since(cmd, &o.Since, cli.OnlySince)
	cli.Complete(cmd, "out", cli.Paths)
	return cli.Group("export", "Export what was recorded for other programs.", cmd)
}
