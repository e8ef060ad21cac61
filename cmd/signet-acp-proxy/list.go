package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

func newMemoryList(p program) *cobra.Command {
	var filter embedded.Filter
	var here, rules, agents bool
	var limit int
	var from string
	cmd := &cobra.Command{
		Use: "list", SuggestFor: []string{"memories", "rules"}, Short: "List memories, newest first.",
		PreRunE: func(*cobra.Command, []string) (err error) {
			if limit, err = atMost(limit); err != nil {
				return err
			}
			if filter.Offset < 0 {
				return fmt.Errorf("--offset must be 0 or more, not %d", filter.Offset)
			}
			filter.Limit = limit + 1 // to see whether there are more
			if filter.From, err = whoNamed(from); err != nil {
				return err
			}
			if here {
				filter.Project, err = projectOf(".")
			}
			return err
		},
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, _ []string) error {
			if agents {
				rows, skipped, err := d.AgentNotes()
				if err != nil {
					return err
				}
				for _, s := range skipped {
					p.std.Say("%s: %s", s.File, s.Why)
				}
				return p.print(rows, func(s term.Screen) error { return report.AgentNotes(rows, p.std) })
			}
			if err := d.Memories.Learn(ctx); err != nil {
				return err
			}
			list := d.Memories.List
			if rules {
				list = d.Memories.Profile
			}
			all, err := list(ctx, filter)
			if err != nil {
				return err
			}
			none := "no memories yet; signet-acp-proxy memory add TEXT saves one, memory backfill imports conversations"
			if filter != (embedded.Filter{Limit: limit + 1}) || rules {
				none = "no matches; signet-acp-proxy memory list shows all"
			}
			return p.printMemories(ctx, d, all, limit, none)
		}),
	}
	flags := cmd.Flags()
	flags.IntVar(&limit, "limit", 100, "At most `N`; 0 is all.")
	flags.IntVar(&filter.Offset, "offset", 0, "Skip the first `N`.")
	flags.StringVar(&filter.Type, "type", "", "Only of this `TYPE`.")
	flags.BoolVar(&filter.Said, "said", false, saidToo)
	flags.BoolVar(&filter.Notes, "notes", false, "Only what agents noted of their sessions.")
	flags.BoolVar(&rules, "rules", false,
		"Only rules and preferences, with scope and number of mentions.")
	flags.StringVar(&from, "from", "", fromHelp)
	complete(cmd, "from", cobra.FixedCompletions(whos(), cobra.ShellCompDirectiveNoFileComp))
	flags.BoolVar(&agents, "agents", false, "Agents' own notes instead.")
	flags.BoolVar(&here, "here", false, onlyHere)
	return p.forScripts(cmd)
}
