package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// namesSession explains the argument of commands that are about one session.
const namesSession = "is an ACP session id, a Signet key, an acpx record, or the unique beginning of one."

func newShow(p program) *cobra.Command {
	var withText, asJSON bool
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show a session: its ids, what was injected, what was delivered.", Args: cli.Arguments,
		Long: "Show a session: its ids, what was injected, what was delivered; or a delegation. ID " + namesSession +
			" The id of a delegation shows what was asked, and the result.",
		ValidArgsFunction: cli.SessionIDs(p.flags),
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
			s, err := d.Find(ctx, args[0])
			if errors.Is(err, correlation.ErrNotFound) {
				if asked, missing := d.Asked(ctx, args[0]); missing == nil {
					return p.showDelegation(ctx, asked, asJSON)
				}
			}
			if err != nil {
				return err
			}
			inserted, err := d.Sessions.Injections(ctx, s.ID)
			if err != nil {
				return err
			}
			slices.Reverse(inserted) // oldest first
			if withText && !asJSON {
				return report.Injected(inserted, s.Session, p.std)
			}
			shown, err := d.Show(ctx, s, inserted, withText)
			if err != nil {
				return err
			}
			return p.print(asJSON, shown, func(s term.Screen) error { return report.Session(shown, s) })
		}),
	}
	cmd.Flags().BoolVar(&withText, "context", false, "Print the text that was injected, exactly, and nothing else.")
	cli.ForScripts(cmd, &asJSON)
	return cmd
}
