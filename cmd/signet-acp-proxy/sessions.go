package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// newSessions makes the command that lists sessions.
func newSessions(p program) *cobra.Command {
	var (
		filter  runtime.SessionFilter
		here    bool
		handoff string
	)
	cmd := &cobra.Command{
		Use:        "sessions [WORDS…]",
		SuggestFor: []string{"history", "list", "ls", "conversations"},
		Short:      "List sessions, newest first.",
		Long:       "List sessions, newest first; with WORDS, only those that contain all of them.",
		PreRunE: func(_ *cobra.Command, words []string) (err error) {
			if filter.Words = words; filter.Limit < 0 {
				return fmt.Errorf("--limit must be 0 (all) or more, not %d", filter.Limit)
			}
			if here {
				filter.Here, err = os.Getwd()
			}
			return err
		},
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, words []string) error {
			found, more, err := d.List(ctx, filter)
			if err != nil {
				return err
			}
			if handoff != "" {
				newest := slices.IndexFunc(found, func(s runtime.Listed) bool { return s.Turns > 0 })
				if newest < 0 {
					return errors.New("no session with a turn")
				}
				return p.handOff(ctx, d, found[newest].ACPID, handoff, false)
			}
			rows := []runtime.Row{}
			for _, s := range found {
				rows = append(rows, s.Row())
			}
			return p.print(rows, func(s term.Screen) error {
				switch {
				case len(found) > 0:
				case filter.Since.IsZero() && !here && filter.Harness == "" && len(words) == 0:
					p.std.Say("no sessions yet: set up a client (signet-acp-proxy init), " +
						"or import earlier conversations (signet-acp-proxy memory backfill)")
					return nil
				default:
					p.std.Say("no matches; signet-acp-proxy sessions --limit 0 shows all sessions")
					return nil
				}
				if err := report.Sessions(found, s); err != nil {
					return err
				}
				if more > 0 {
					p.std.Say("%d more; --limit 0 shows all", more)
				}
				return nil
			})
		}),
	}
	flags := cmd.Flags()
	flags.BoolVar(&here, "here", false, "Only sessions of this project.")
	flags.StringVar(&filter.Harness, "harness", "", "Only sessions of the agent `NAME`.")
	since(cmd, &filter.Since, "Only sessions active since `WHEN`: a date, a time or an age (7d, 12h).")
	flags.IntVar(&filter.Limit, "limit", 30, "Only the newest `N`; 0 is all.")
	flags.StringVar(&handoff, "handoff", "", "Hand the newest one over to `AGENT`, like handoff.")
	complete(cmd, "harness", harnessNames(p.flags))
	complete(cmd, "handoff", agentNames(p.flags))
	return p.forScripts(cmd)
}
