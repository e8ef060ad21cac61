package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// exportOTLP hands spans and metrics to other programs.
type exportOTLP struct {
	telemetry.Export
	out, endpoint, since string
}

func newExport(f *config.Flags, std term.Streams) *cobra.Command {
	var e exportOTLP
	cmd := &cobra.Command{
		Use: "otlp", Short: "Spans and metrics of sessions as OTLP JSON.", Args: cli.Arguments,
		Long: "Spans and metrics of sessions as OTLP JSON, with gen_ai's names: on stdout, in a file, or to an " +
			"endpoint. What was said and inserted is left out unless it is asked for.",
		RunE: func(*cobra.Command, []string) error { return e.run(f, std) },
	}
	flags := cmd.Flags()
	flags.StringVar(&e.out, "out", "", "Write to this `FILE`.")
	flags.StringVar(&e.endpoint, "endpoint", "", "Send to this `URL`, such as http://127.0.0.1:4318.")
	flags.BoolVar(&e.WithText, "with-text", false, "With what was said and inserted.")
	cli.Since(cmd, &e.since)
	cli.Complete(cmd, "out", cli.Paths)
	return cli.Group("export", "Export what was recorded for other programs.", cmd)
}

func (cmd *exportOTLP) run(f *config.Flags, std term.Streams) error {
	if cmd.out != "" && cmd.endpoint != "" {
		return cli.Misuse("--out or --endpoint, not both")
	}
	o := cmd.Export
	o.Version = runtime.Version
	var err error
	if o.Since, err = cli.ParseSince(cmd.since); err != nil {
		return err
	}
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		turns := 0
		switch {
		case cmd.endpoint != "":
			turns, err = o.Post(ctx, d.Sessions, cmd.endpoint)
		case cmd.out != "":
			err = runtime.WriteFile(cmd.out, func(w io.Writer) (err error) {
				turns, err = o.Write(ctx, d.Sessions, w)
				return err
			})
		default:
			turns, err = o.Write(ctx, d.Sessions, std.Out)
		}
		if err != nil {
			return err
		}
		if cmd.out != "" || cmd.endpoint != "" {
			std.Say("%s", term.Count(turns, "turn"))
		}
		return nil
	})
}
