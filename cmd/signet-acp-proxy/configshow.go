package main

import (
	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

func newConfig(f *config.Flags, std term.Streams) *cobra.Command {
	return cli.Group("config", "Look into the configuration.", newConfigShow(f, std))
}

func newConfigShow(f *config.Flags, std term.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show", Short: "Print every value and where it came from; exit 1 when something is wrong.",
		Args: cli.Arguments,
		RunE: func(*cobra.Command, []string) error { return showConfig(asJSON, f, std) },
	}
	cli.ForScripts(cmd, &asJSON)
	return cmd
}

func showConfig(asJSON bool, f *config.Flags, std term.Streams) error {
	c, err := config.Load(*f)
	if err != nil {
		return err
	}
	all := c.Shown()
	if asJSON {
		return term.JSON(std.Out, all)
	}
	return report.Settings(all, term.On(std.Out))
}
