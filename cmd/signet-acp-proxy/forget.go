package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/removal"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

const forGoodHelp = "Disable forget --undo for this removal."

// newForget makes the command that removes one conversation, or restores what was removed last.
func newForget(p program) *cobra.Command {
	r := removal.Removal{Std: p.std}
	var source string
	var undo bool
	cmd := &cobra.Command{
		Use: "forget SESSION", SuggestFor: []string{"remove", "delete", "rm", "undo"},
		Short: "Remove one conversation everywhere.",
		Args: func(cmd *cobra.Command, args []string) error {
			if source != "" || undo {
				return takes("")(cmd, args)
			}
			return takes("SESSION")(cmd, args)
		},
		Long: "Remove one conversation everywhere, with the memories learned from it. SESSION " + namesSession +
			" Off a terminal, pass the whole id or --yes." +
			" For an hour, --undo without SESSION restores the last removal by forget, prune or memory forget.",
		ValidArgsFunction: sessionIDs(p.flags),
		PreRunE: func(*cobra.Command, []string) error {
			if undo && (source != "" || r.ForGood) {
				return errors.New("--undo takes no other flag")
			}
			return nil
		},
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
			r.Data = d
			switch {
			case undo:
				return removal.Undo(ctx, d, p.std)
			case source != "":
				return r.Source(ctx, source)
			}
			return r.Session(ctx, args[0])
		}),
	}
	flags := cmd.Flags()
	flags.BoolVar(&r.Yes, "yes", false, "Do not ask.")
	flags.StringVar(&source, "source", "", "Remove all imports from `SOURCE`: backfill:AGENT.")
	flags.BoolVar(&undo, "undo", false, "Restore the last removal, within an hour.")
	flags.BoolVar(&r.ForGood, "for-good", false, forGoodHelp)
	return cmd
}

// newPrune makes the command that removes old conversations.
func newPrune(p program) *cobra.Command {
	r := removal.Removal{Std: p.std}
	var o correlation.PruneOptions
	var olderThan string
	cmd := &cobra.Command{
		Use: "prune", SuggestFor: []string{"clean"},
		Short: "Remove old, delivered conversations; without --yes, list them.",
		PreRunE: func(*cobra.Command, []string) error {
			if olderThan == "" && o.Keep == 0 {
				return errors.New("pass --older-than AGE or --keep N")
			}
			if o.Keep < 0 {
				return errors.New("--keep must be at least 1")
			}
			if olderThan != "" {
				age, err := config.ParseAge(olderThan)
				if err != nil {
					return fmt.Errorf("--older-than: %w", err)
				}
				o.Before = time.Now().Add(-age)
			}
			return nil
		},
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, _ []string) error {
			r.Data, o.DryRun = d, !r.Yes
			return r.Prune(ctx, o)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&olderThan, "older-than", "", "Conversations inactive for `AGE`: 90d, 36h.")
	flags.IntVar(&o.Keep, "keep", 0, "All but the newest `N`.")
	flags.BoolVar(&r.Yes, "yes", false, "Remove them.")
	flags.BoolVar(&r.ForGood, "for-good", false, forGoodHelp)
	return cmd
}
