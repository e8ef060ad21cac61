package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/view"
)

// viewCommand shows sessions, memories and usage on a page.
type viewCommand struct {
	out    string
	noOpen bool
}

func newView(f *config.Flags, std term.Streams) *cobra.Command {
	var v viewCommand
	cmd := &cobra.Command{
		Use: "view", Short: "Look at sessions, memories and usage in a browser.", Args: cli.Arguments,
		Long: "Write sessions, memories and usage as one page, which needs no network and no server, and open it in a " +
			"browser. The page's path is printed.",
		RunE: func(*cobra.Command, []string) error { return v.run(f, std) },
	}
	flags := cmd.Flags()
	flags.StringVar(&v.out, "out", "", "Write the page to this `FILE` (acp/view.html in the Signet folder).")
	flags.BoolVar(&v.noOpen, "no-open", false, "Do not open it.")
	cli.Complete(cmd, "out", cli.Paths)
	return cmd
}

func (cmd *viewCommand) run(f *config.Flags, std term.Streams) error {
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		file, err := filepath.Abs(cmp.Or(cmd.out, runtime.PageFile(d.Config)))
		if err != nil {
			return err
		}
		page, err := view.Read(ctx, d.Page(*f))
		if err != nil {
			return err
		}
		if err := runtime.WriteFile(file, page.Write); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(std.Out, file); err != nil || cmd.noOpen {
			return err
		}
		if err := runtime.OpenInBrowser(file); err != nil {
			std.Say("open it in a browser: %v", err)
		}
		return nil
	})
}
