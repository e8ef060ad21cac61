package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// forgetCommand removes one conversation.
type forgetCommand struct {
	yes    bool
	source string
}

func newForget(f *config.Flags, std term.Streams) *cobra.Command {
	var c forgetCommand
	cmd := &cobra.Command{
		Use: "forget SESSION", Short: "Remove one conversation everywhere.",
		Args: func(cmd *cobra.Command, args []string) error {
			if c.source != "" {
				return cobra.NoArgs(cmd, args)
			}
			return cli.Arguments(cmd, args)
		},
		Long: "Remove one conversation everywhere, and what was learned from it. SESSION " + namesSession +
			" On a terminal you are asked first; elsewhere it has to be the whole id, or --yes is needed.",
		ValidArgsFunction: cli.SessionIDs(f),
		RunE: func(_ *cobra.Command, args []string) error {
			if c.source != "" {
				return c.runSource(f, std)
			}
			return c.run(args[0], f, std)
		},
	}
	cmd.Flags().BoolVar(&c.yes, "yes", false, "Do not ask.")
	cmd.Flags().StringVar(&c.source, "source", "", "Remove all that came from `SOURCE`: backfill:AGENT.")
	return cmd
}

func (cmd *forgetCommand) run(name string, f *config.Flags, std term.Streams) error {
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		s, err := d.Find(ctx, name)
		if err != nil {
			return err
		}
		learned, err := d.Memories.LearnedFrom(ctx, []int64{s.ID})
		if err != nil {
			return err
		}
		std.Say("%s %q, %s: %s", s.ACPID, s.Title, term.Count(s.Turns, "turn"), goes(learned))
		if !cmd.yes && std.Talks() {
			if !std.Ask("remove it?") {
				std.Say("nothing is removed")
				return nil
			}
		} else if !cmd.yes && name != s.ACPID && name != s.Key && name != s.Record {
			return fmt.Errorf("%s only begins the id of %s: give the whole id, or --yes", name, s.ACPID)
		}
		eraser, err := eventlog.Sweep{Store: d.Sessions, Log: d.Log.Logger()}.Eraser(ctx)
		if err != nil {
			return err
		}
		gone, err := d.Sessions.Forget(ctx, s.ID, d.Memories.Unlearn)
		if err != nil {
			return err
		}
		if err := eraser.Erase(ctx, gone.Sessions); err != nil {
			return err
		}
		if err := runtime.RemoveFiles(gone.Files); err != nil {
			return err
		}
		std.Say("forgotten: %s, %s", s.ACPID, term.Count(gone.Turns, "turn"))
		if s.Live {
			std.Say("an agent still holds it: what is said from now on is not recorded")
		}
		return nil
	})
}

// runSource removes all conversations that an import brought.
func (cmd *forgetCommand) runSource(f *config.Flags, std term.Streams) error {
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		ids, err := d.Sessions.Imported(ctx, cmd.source)
		if err != nil {
			return err
		}
		std.Say("%s from %s", term.Count(len(ids), "conversation"), cmd.source)
		switch {
		case len(ids) == 0:
			return nil
		case !cmd.yes && !std.Talks():
			return fmt.Errorf("to remove them, add --yes")
		case !cmd.yes && !std.Ask("remove them?"):
			std.Say("nothing is removed")
			return nil
		}
		turns := 0
		for _, id := range ids {
			gone, err := d.Sessions.Forget(ctx, id, d.Memories.Unlearn)
			if errors.Is(err, correlation.ErrNotFound) { // it went with another one
				continue
			}
			if err != nil {
				return err
			}
			turns += gone.Turns
			if err := runtime.RemoveFiles(gone.Files); err != nil {
				return err
			}
		}
		std.Say("forgotten: %s, %s", term.Count(len(ids), "conversation"), term.Count(turns, "turn"))
		return nil
	})
}

// pruneCommand removes old conversations.
type pruneCommand struct {
	olderThan string
	keep      int
	yes       bool
}

func newPrune(f *config.Flags, std term.Streams) *cobra.Command {
	var p pruneCommand
	cmd := &cobra.Command{
		Use: "prune", Short: "Remove old conversations that owe nothing; without --yes only say which.",
		Args: cli.Arguments,
		RunE: func(*cobra.Command, []string) error { return p.run(f, std) },
	}
	flags := cmd.Flags()
	flags.StringVar(&p.olderThan, "older-than", "", "Those last active longer than this `AGE` ago: 90d, 36h.")
	flags.IntVar(&p.keep, "keep", 0, "All but the newest `N`.")
	flags.BoolVar(&p.yes, "yes", false, "Remove them; without it nothing is changed.")
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
		o.Unlearn = d.Memories.Unlearn
		all, _, err := d.List(ctx, runtime.SessionFilter{}) // before they are gone
		if err != nil {
			return err
		}
		learned, err := d.LearnedFrom(ctx, o)
		if err != nil {
			return err
		}
		if learned.Passages+learned.Memories > 0 {
			std.Say("%s", goes(learned))
		}
		eraser, err := eventlog.Sweep{Store: d.Sessions, Log: d.Log.Logger()}.Eraser(ctx)
		if err != nil {
			return err
		}
		progress := term.NewProgress(std.Err)
		progress.Step("looking through " + term.Count(len(all), "session"))
		p, err := d.Sessions.Prune(ctx, o)
		progress.Done()
		ids := make([]int64, len(p.Sessions))
		var gone []runtime.Listed
		for i, s := range p.Sessions {
			ids[i] = s.ID
			gone = append(gone, all[slices.IndexFunc(all, func(one runtime.Listed) bool { return one.ID == s.ID })])
		}
		if !o.DryRun {
			err = errors.Join(err, eraser.Erase(ctx, ids))
		}
		if len(gone) > 0 {
			if err := report.Sessions(gone, term.On(std.Out)); err != nil {
				return err
			}
		}
		err = errors.Join(err, runtime.RemoveFiles(p.Files))
		what := term.Count(len(p.Sessions), "session") + ", " + term.Count(p.Turns, "turn")
		switch {
		case len(p.Sessions) == 0:
			std.Say("nothing to remove; what is in use or still owed stays")
		case cmd.yes:
			std.Say("removed: %s", what)
		default:
			std.Say("would remove %s; --yes does it", what)
		}
		return err
	})
}

// goes says what goes with sessions, before it does.
func goes(l embedded.Learned) string {
	return fmt.Sprintf("with what was said go %s and %s learned from it; what was stored stays",
		term.Count(l.Passages, "passage"), term.Count(l.Memories, "memory"))
}
