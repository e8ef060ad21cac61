package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

func newConfig(f *config.Flags, std term.Streams) *cobra.Command {
	return group("config", "Look into the configuration.", newConfigShow(f, std))
}

func newConfigShow(f *config.Flags, std term.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show", Short: "Print every value and where it came from; exit 1 when something is wrong.", Args: arguments,
		RunE: func(*cobra.Command, []string) error { return showConfig(asJSON, f, std) },
	}
	forScripts(cmd, &asJSON)
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
	t := &term.Table{Columns: []term.Column{
		{Title: "SETTING"}, {Title: "VALUE", Least: 12}, {Title: "FROM", Least: 7}, {Title: "ENVIRONMENT", Spare: 1},
	}}
	for _, s := range all {
		t.Add(s.Name, fmt.Sprint(s.Value), s.Source, s.Environment)
	}
	return t.Print(term.On(std.Out))
}
