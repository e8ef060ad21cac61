package main

import (
	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/install"
)

// newUninstall makes the command that removes what we have put on the machine, except for the program itself.
func newUninstall(p program) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "uninstall", Args: cli.Arguments,
		Short: "Remove our entries from clients and, if you agree, what was recorded.",
		Long: "Remove our entries from clients' files and, if you agree, what was recorded: the acp folder in the " +
			"Signet folder. Identity files, agent.yaml and the program itself stay, but not the copy that npx kept. " +
			"Off a terminal it removes nothing without --yes.",
		RunE: func(*cobra.Command, []string) error {
			c, err := config.Load(*p.flags)
			if err != nil {
				return err
			}
			return install.Steps{Config: c, Std: p.std, Yes: yes}.Uninstall()
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "Do not ask: remove entries and what was recorded.")
	return cmd
}
