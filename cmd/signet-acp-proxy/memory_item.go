package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/removal"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

func newMemoryShow(f *config.Flags, std term.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show one memory.", Args: cli.Arguments,
		Long: "Show one memory by its id or the unique beginning of that.",
		RunE: func(_ *cobra.Command, args []string) error { return showMemory(args[0], asJSON, f, std) },
	}
	cli.ForScripts(cmd, &asJSON)
	return cmd
}

func showMemory(id string, asJSON bool, f *config.Flags, std term.Streams) error {
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		m, err := d.Memories.Get(ctx, id)
		if err != nil {
			return err
		}
		replaced, err := d.Memories.Replaced(ctx, m)
		if err != nil {
			return err
		}
		for _, r := range replaced {
			m.Replaces = append(m.Replaces, r.ID)
		}
		if asJSON {
			return report.Memories(ctx, d, std, []embedded.Memory{m}, true)
		}
		return report.Memory(ctx, d, std, m, replaced)
	})
}

func newMemoryForget(f *config.Flags, std term.Streams) *cobra.Command {
	var asJSON, forGood bool
	cmd := &cobra.Command{
		Use: "forget ID", Args: cli.Arguments,
		Short: "Remove a memory; the conversation that it came from does not teach it again.",
		Long: "Remove a memory by its id or the unique beginning of that; " +
			"the conversation that it came from does not teach it again. For an hour, forget --undo brings it back.",
		RunE: func(_ *cobra.Command, args []string) error { return forgetMemory(args[0], asJSON, forGood, f, std) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print what went as JSON.")
	cmd.Flags().BoolVar(&forGood, "for-good", false, forGoodHelp)
	return cmd
}

func forgetMemory(id string, asJSON, forGood bool, f *config.Flags, std term.Streams) error {
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		r := removal.Removal{Data: d, Std: std, ForGood: forGood}
		m, err := r.Memory(ctx, id)
		if err != nil {
			return err
		}
		if asJSON {
			return report.Memories(ctx, d, std, []embedded.Memory{m}, true)
		}
		std.Say("forgotten: %s", m.ID)
		r.SayUndo()
		return nil
	})
}

const saidToo = "With the passages of conversations, which go when these go."

func newMemoryEdit(f *config.Flags, std term.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "edit ID TEXT", Short: "Change what a memory says.", Args: cli.Arguments,
		Long: "Change what a memory says. What a conversation taught is not learned again as it was.",
		RunE: func(_ *cobra.Command, args []string) error {
			change := embedded.Change{Content: &args[1], Source: "memory edit"}
			return changeMemory(args[0], change, "changed", asJSON, f, std)
		},
	}
	cli.ForScripts(cmd, &asJSON)
	return cmd
}

func newMemoryPin(f *config.Flags, std term.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "pin ID", Short: "Tell a memory to every session of its project, whatever the prompt.",
		Args: cli.Arguments,
		RunE: func(_ *cobra.Command, args []string) error {
			return changeMemory(args[0], embedded.Change{Source: embedded.Pinned}, "pinned", asJSON, f, std)
		},
	}
	cli.ForScripts(cmd, &asJSON)
	return cmd
}

func newMemoryPromote(f *config.Flags, std term.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "promote LINE", Short: "Take what an agent keeps for itself into our memory.", Args: cli.Arguments,
		Long: "Take what an agent keeps for itself into our memory, for the others: memory list --agents shows its " +
			"LINEs. The agent that has it is not told it by us.",
		RunE: func(_ *cobra.Command, args []string) error { return promoteNote(args[0], asJSON, f, std) },
	}
	cli.ForScripts(cmd, &asJSON)
	return cmd
}

func promoteNote(line string, asJSON bool, f *config.Flags, std term.Streams) error {
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		m, added, err := d.Promote(ctx, line)
		if err != nil {
			return err
		}
		if asJSON {
			return report.Memories(ctx, d, std, []embedded.Memory{m}, true)
		}
		if !added {
			std.Say("already known; updated")
		}
		_, err = fmt.Fprintln(std.Out, m.ID)
		return err
	})
}

func changeMemory(
	id string, change embedded.Change, done string, asJSON bool, f *config.Flags, std term.Streams,
) error {
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		m, err := d.Memories.Modify(ctx, id, change)
		if err != nil {
			return err
		}
		if asJSON {
			return report.Memories(ctx, d, std, []embedded.Memory{m}, true)
		}
		std.Say("%s: %s", done, m.ID)
		return nil
	})
}
