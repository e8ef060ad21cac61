package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory/backfill"
)

// memoryBackfill imports conversations that harnesses had without this program.
type memoryBackfill struct {
	program
	since                  time.Time
	project                string
	dryRun, deliver, watch bool
	fromRelay              bool // started by a relay: backfill: auto
}

// maxShown is how many skipped files a person is shown.
const maxShown = 20

func newMemoryBackfill(p program) *cobra.Command {
	b := memoryBackfill{program: p}
	cmd := &cobra.Command{
		Use: "backfill [AGENT…]", Short: "Import conversations from agents' own history.",
		Long: "Import conversations from agents' own history: " +
			strings.Join(backfill.Agents(), ", ") +
			"; all of them unless you name some. Those that write into projects (aider, specstory) only if you " +
			"name them or --project. Their files are not changed. " +
			"Nothing is imported twice or after forget; forget --source backfill:AGENT undoes it.",
		ValidArgs: backfill.Agents(),
		RunE:      func(_ *cobra.Command, args []string) error { return b.run(args) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&b.dryRun, "dry-run", false, "Count, import nothing.")
	since(cmd, &b.since, "Only conversations since `WHEN`: a date, a time or an age (7d, 12h).")
	flags.StringVar(&b.project, "project", "", "Only the project of `DIR`.")
	flags.BoolVar(&b.deliver, "deliver", false, "Also deliver to the Signet daemon.")
	flags.BoolVar(&b.watch, "watch", false, "Keep importing until you press Ctrl-C.")
	flags.BoolVar(&b.fromRelay, runtime.AutoBackfillWord, false, "")
	flags.Lookup(runtime.AutoBackfillWord).Hidden = true
	cmd.MarkFlagsMutuallyExclusive("watch", "dry-run")
	complete(cmd, "project", folders)
	return p.forScripts(cmd)
}

func (cmd *memoryBackfill) run(agents []string) error {
	for _, agent := range agents {
		if !slices.Contains(backfill.Agents(), agent) {
			return misuse("unknown agent %q%s: conversations are read of %s",
				agent, config.DidYouMean(agent, backfill.Agents()), strings.Join(backfill.Agents(), ", "))
		}
	}
	named := len(agents) > 0
	if !named {
		agents = runtime.BackfillAgents(cmd.project != "")
	}
	project, err := projectOf(cmd.project)
	if err != nil {
		return err
	}
	b := runtime.Backfill{DryRun: cmd.dryRun, Deliver: cmd.deliver, Since: cmd.since, Project: project}
	return runtime.WithData(cmd.flags, cmd.std, func(ctx context.Context, d *runtime.Data) error {
		ctx, stop := untilTold(ctx)
		defer stop()
		if b.Data = d; cmd.fromRelay {
			runtime.StepBack()
			return d.AutoBackfill(ctx)
		}
		progress := term.NewProgress(cmd.std.Err)
		if progress.Shown() {
			b.Step = progress.Share
		}
		if cmd.watch {
			cmd.std.Say("importing; press Ctrl-C to stop")
			return b.Watch(ctx, agents, func(all []runtime.Backfilled) {
				progress.Done()
				cmd.report(all, false)
			})
		}
		all, err := b.Run(ctx, agents)
		progress.Done()
		if err != nil && ctx.Err() == nil {
			return err
		}
		if failed := cmd.report(all, named); failed != nil || err == nil {
			return failed
		}
		return errors.New("interrupted; run the same command to continue")
	})
}

// report prints results; named says that a person has named the agents.
func (cmd *memoryBackfill) report(all []runtime.Backfilled, named bool) error {
	return cmd.printLine(all, func(term.Screen) error { cmd.tell(all, named); return nil })
}

// tell tells a person of results.
func (cmd *memoryBackfill) tell(all []runtime.Backfilled, named bool) {
	var without []string
	for _, got := range all {
		if got.Files == 0 {
			without = append(without, got.Agent)
		} else {
			cmd.reportOne(got)
		}
	}
	if len(without) > 0 && (named || cmd.dryRun) {
		fmt.Fprintf(cmd.std.Out, "no conversations of %s\n", strings.Join(without, ", "))
	}
}

// reportOne tells a person what was found of one agent.
func (cmd *memoryBackfill) reportOne(got runtime.Backfilled) {
	verb := "imported"
	if cmd.dryRun {
		verb = "found"
	}
	fmt.Fprintf(cmd.std.Out, "%s: %s, %s %s from %s\n", got.Agent, term.Count(got.Sessions, "conversation"),
		term.Count(got.Turns, "turn"), verb, term.Count(got.Files, "file"))
	if got.Subagents > 0 {
		fmt.Fprintf(cmd.std.Out, "  and %s of subagents\n", term.Count(got.Subagents, "conversation"))
	}
	if len(got.LeftOut) > 0 {
		var parts []string
		for _, why := range slices.Sorted(maps.Keys(got.LeftOut)) {
			parts = append(parts, fmt.Sprintf("%s (%d)", why, got.LeftOut[why]))
		}
		fmt.Fprintf(cmd.std.Out, "  left out: %s\n", strings.Join(parts, ", "))
	}
	for i, s := range got.Skipped {
		if i == maxShown {
			cmd.std.Say("%d more; --json lists all", len(got.Skipped)-i)
			break
		}
		cmd.std.Say("%s", strings.TrimPrefix(s.File+": "+s.Why, ": "))
	}
}
