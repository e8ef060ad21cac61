package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/install"
)

// newInit makes the command that sets up what a beginner needs. It changes no existing file.
func newInit(p program) *cobra.Command {
	var yes, dryRun bool
	cmd := &cobra.Command{
		Use: "init", SuggestFor: []string{"install", "start"},
		Short: "Set up the Signet folder and your clients, and show an example of recall.",
		Long: "Make the Signet folder with short template files, set up the clients that are found (it asks first), " +
			"count the agents' own conversations, ask whether agents are to note their sessions, and show what an " +
			"agent would recall now. Existing files are not changed.",
		RunE: p.onConfig(func(c *config.Config, _ []string) error {
			s := install.Steps{Config: c, Std: p.std, Yes: yes, DryRun: dryRun}
			if err := s.SetUp(); err != nil {
				return err
			}
			ctx, stop := untilTold(context.Background())
			defer stop()
			if err := s.Offer(ctx); err != nil || dryRun {
				return err
			}
			if s.WantsNotes() {
				if err := p.editConfig("notes", func(text []byte) ([]byte, error) {
					return config.Set(text, "notes", "agent")
				}); err != nil {
					return err
				}
			}
			if err := s.Told(ctx); err != nil {
				return err
			}
			return s.Next()
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "Do not ask.")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "Print the changes, make none.")
	return cmd
}

// newUninstall makes the command that removes what we have put on the machine, except for the program itself.
func newUninstall(p program) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove our entries from clients and, if you agree, all recordings.",
		Long: "Remove our entries from clients' files and, if you agree, all recordings: the acp folder in the " +
			"Signet folder. Identity files, agent.yaml and the program itself stay, but not the copy that npx kept. " +
			"Off a terminal it removes nothing without --yes.",
		RunE: p.onConfig(func(c *config.Config, _ []string) error {
			return install.Steps{Config: c, Std: p.std, Yes: yes}.Uninstall()
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "Do not ask: remove entries and recordings.")
	return cmd
}
