package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

func newBackup(p program) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the database to a new file; sessions may run.",
		Long: "Copy the database, conversations and memories, into a new FILE. Sessions may run. " +
			"Identity files and agent.yaml are not included.",
		ValidArgsFunction: paths,
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
			progress := term.NewProgress(p.std.Err)
			progress.Step("copying " + d.Config.DB)
			err := d.Backup(ctx, args[0])
			progress.Done()
			if err != nil {
				return err
			}
			info, err := os.Stat(args[0])
			if err == nil {
				p.std.Say("written: %s, %d KiB", args[0], info.Size()/1024)
			}
			return err
		}),
	}
}

func newRestore(p program) *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "Replace the database with a backup, while no session runs.",
		Long: "Replace the database with a backup, while no session runs. " +
			"The old database is kept beside it.",
		ValidArgsFunction: backups(p.flags),
		RunE: p.onConfig(func(c *config.Config, args []string) error {
			progress := term.NewProgress(p.std.Err)
			progress.Step("reading " + args[0])
			kept, err := runtime.Restore(context.Background(), c, args[0])
			progress.Done()
			if err != nil {
				return err
			}
			p.std.Say("restored: %s", c.DB)
			if kept != "" {
				p.std.Say("the old database is %s", kept)
			}
			return nil
		}),
	}
}
