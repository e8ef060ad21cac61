package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/removal"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// forgetCommand removes one conversation, or restores what was removed last.
type forgetCommand struct {
	yes, forGood, undo bool
	source             string
}

const forGoodHelp = "Keep nothing that forget --undo could bring back."

func newForget(f *config.Flags, std term.Streams) *cobra.Command {
	var c forgetCommand
	cmd := &cobra.Command{
		Use: "forget SESSION", Short: "Remove one conversation everywhere.",
		Args: func(cmd *cobra.Command, args []string) error {
			if c.source != "" || c.undo {
				return cobra.NoArgs(cmd, args)
			}
			return cli.Arguments(cmd, args)
		},
		Long: "Remove one conversation everywhere, and what was learned from it. SESSION " + namesSession +
			" On a terminal you are asked first; elsewhere it has to be the whole id, or --yes is needed." +
			" For an hour --undo, without SESSION, brings back what was removed last, by forget, prune or memory forget.",
		ValidArgsFunction: cli.SessionIDs(f),
		RunE:              func(_ *cobra.Command, args []string) error { return c.run(args, f, std) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&c.yes, "yes", false, "Do not ask.")
	flags.StringVar(&c.source, "source", "", "Remove all that came from `SOURCE`: backfill:AGENT.")
	flags.BoolVar(&c.undo, "undo", false, "Bring back what was removed last, within an hour.")
	flags.BoolVar(&c.forGood, "for-good", false, forGoodHelp)
	return cmd
}

func (cmd *forgetCommand) run(args []string, f *config.Flags, std term.Streams) error {
	if cmd.undo && (cmd.source != "" || cmd.forGood) {
		return cli.Misuse("--undo stands alone")
	}
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		r := removal.Removal{Data: d, Std: std, Yes: cmd.yes, ForGood: cmd.forGood}
		switch {
		case cmd.undo:
			return removal.Undo(ctx, d, std)
		case cmd.source != "":
			return r.Source(ctx, cmd.source)
		}
		return r.Session(ctx, args[0])
	})
}

// pruneCommand removes old conversations.
type pruneCommand struct {
	olderThan    string
	keep         int
	yes, forGood bool
}

func newPrune(f *config.Flags, std term.Streams) *cobra.Command {
	var p pruneCommand
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove old conversations that are delivered; without --yes, list them.", Args: cli.Arguments,
		RunE: func(*cobra.Command, []string) error { return p.run(f, std) },
	}
	flags := cmd.Flags()
	flags.StringVar(&p.olderThan, "older-than", "", "Those last active longer than this `AGE` ago: 90d, 36h.")
	flags.IntVar(&p.keep, "keep", 0, "All but the newest `N`.")
	flags.BoolVar(&p.yes, "yes", false, "Remove them; without it nothing is changed.")
	flags.BoolVar(&p.forGood, "for-good", false, forGoodHelp)
	return cmd
}

func (cmd *pruneCommand) run(f *config.Flags, std term.Streams) error {
	if cmd.olderThan == "" && cmd.keep == 0 {
		return cli.Exit{Code: cli.Usage, Err: errors.New("which ones? give --older-than AGE or --keep N")}
	}
	if cmd.keep < 0 {
		return cli.Exit{Code: cli.Usage, Err: errors.New("--keep: give a number from 1 on")}
	}
	o := correlation.PruneOptions{Keep: cmd.keep, DryRun: !cmd.yes}
	if cmd.olderThan != "" {
		age, err := config.ParseAge(cmd.olderThan)
		if err != nil {
			return cli.Exit{Code: cli.Usage, Err: fmt.Errorf("--older-than: %w", err)}
		}
		o.Before = time.Now().Add(-age)
	}
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		return removal.Removal{Data: d, Std: std, Yes: cmd.yes, ForGood: cmd.forGood}.Prune(ctx, o)
	})
}
