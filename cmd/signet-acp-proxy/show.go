package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// showCommand shows one session.
type showCommand struct {
	context bool
	json    bool
}

// namesSession explains the argument of commands that are about one session.
const namesSession = "is an ACP session id, a Signet key, an acpx record, or the unique beginning of one."

func newShow(f *config.Flags, std term.Streams) *cobra.Command {
	var s showCommand
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show a session: its ids, what was injected, what was delivered.", Args: cli.Arguments,
		Long: "Show a session: its ids, what was injected, what was delivered; or a delegation. ID " + namesSession +
			" That of a delegation shows what was asked and what came of it.",
		ValidArgsFunction: cli.SessionIDs(f),
		RunE:              func(_ *cobra.Command, args []string) error { return s.run(args[0], f, std) },
	}
	cmd.Flags().BoolVar(&s.context, "context", false, "Print the text that was injected, exactly, and nothing else.")
	cli.ForScripts(cmd, &s.json)
	return cmd
}

func (cmd *showCommand) run(id string, f *config.Flags, std term.Streams) error {
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		s, err := d.Find(ctx, id)
		if errors.Is(err, correlation.ErrNotFound) {
			if asked, missing := d.Asked(ctx, id); missing == nil {
				return showDelegation(ctx, asked, cmd.json, std)
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
		if cmd.context && !cmd.json {
			return report.Injected(inserted, s.Session, std)
		}
		shown, err := d.Show(ctx, s, inserted, cmd.context)
		if err != nil {
			return err
		}
		if cmd.json {
			return term.JSON(std.Out, shown)
		}
		return report.Session(shown, term.On(std.Out))
	})
}
