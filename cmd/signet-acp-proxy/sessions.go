package main

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// sessionsCommand lists sessions.
type sessionsCommand struct {
	runtime.SessionFilter
	here    bool
	since   string
	handoff string
	json    bool
}

func newSessions(f *config.Flags, std term.Streams) *cobra.Command {
	var s sessionsCommand
	cmd := &cobra.Command{
		Use: "sessions [WORDS…]", Short: "List sessions, newest first.", Args: cli.Arguments,
		Long: "List sessions, newest first; with WORDS those in which all of them were said.",
		RunE: func(_ *cobra.Command, words []string) error {
			s.Words = words
			return s.run(f, std)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&s.here, "here", false, "Only those of this folder's project.")
	flags.StringVar(&s.Harness, "harness", "", "Only those of a harness, by its `NAME`.")
	flags.StringVar(&s.since, "since", "", "Only those active since `WHEN`: a date, a time or an age (7d, 12h).")
	flags.IntVar(&s.Limit, "limit", 30, "Only the newest `N`; 0 is all.")
	flags.StringVar(&s.handoff, "handoff", "", "Have this `AGENT` go on with the newest of them, as handoff does.")
	cli.Complete(cmd, "harness", cli.AgentNames(f))
	cli.Complete(cmd, "handoff", cli.AgentNames(f))
	cli.ForScripts(cmd, &s.json)
	return cmd
}

func (cmd *sessionsCommand) run(f *config.Flags, std term.Streams) error {
	filter := cmd.SessionFilter
	if filter.Limit < 0 {
		return cli.Misuse("--limit must be 0 (all) or more, not %d", filter.Limit)
	}
	var err error
	if filter.Since, err = cli.ParseSince(cmd.since); err != nil {
		return err
	}
	if cmd.here {
		if filter.Here, err = os.Getwd(); err != nil {
			return err
		}
	}
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		found, more, err := d.List(ctx, filter)
		if err != nil {
			return err
		}
		if cmd.handoff != "" {
			newest := slices.IndexFunc(found, func(s runtime.Listed) bool { return s.Turns > 0 })
			if newest < 0 {
				return errors.New("no session in which anything was said")
			}
			return handoffCommand{to: cmd.handoff}.leave(ctx, d, found[newest].ACPID, std)
		}
		if cmd.json {
			rows := []runtime.Row{}
			for _, s := range found {
				rows = append(rows, s.Row())
			}
			return term.JSON(std.Out, rows)
		}
		if len(found) == 0 {
			if filter.Since.IsZero() && !cmd.here && filter.Harness == "" && len(filter.Words) == 0 {
				std.Say("no sessions yet: they come with the first conversation through us (signet-acp-proxy init), " +
					"or from what agents have kept themselves (signet-acp-proxy memory backfill)")
			} else {
				std.Say("no session matches: signet-acp-proxy sessions --limit 0 lists all, view searches the text")
			}
			return nil
		}
		if err := report.Sessions(found, term.On(std.Out)); err != nil {
			return err
		}
		if more > 0 {
			std.Say("and %d more: --limit 0 lists all, words find some", more)
		}
		return nil
	})
}
