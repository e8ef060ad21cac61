package main

import (
	"context"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

func newMemoryShow(f *config.Flags, std term.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show one memory.", Args: arguments,
		Long: "Show one memory by its id or the unique beginning of that.",
		RunE: func(_ *cobra.Command, args []string) error { return showMemory(args[0], asJSON, f, std) },
	}
	forScripts(cmd, &asJSON)
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
			return printMemories(ctx, d, std, []embedded.Memory{m}, true)
		}
		var l term.List
		l.Add("id", m.ID)
		l.Add("type", m.Type)
		l.Add("project", m.Project)
		if m.Personal {
			l.Add("scope", "the person's own, in every project")
		}
		l.Add("said by", m.Origin)
		l.Add("came by", m.Source)
		l.Add("harness", m.Harness)
		l.Add("signet key", m.Session)
		l.Add("tags", m.Tags)
		l.Add("about", m.Context)
		l.Add("importance", fmt.Sprintf("%.2g", m.Importance))
		if m.Ratings > 0 {
			l.Add("rating", fmt.Sprintf("%.2g (%d)", m.Rating, m.Ratings))
		}
		if m.Given > 0 {
			l.Add("told", fmt.Sprintf("to %s, used by %d", term.Count(m.Given, "session"), m.Used))
		}
		l.Add("created", term.Local(m.Created))
		l.Add("updated", term.Local(m.Updated))
		l.Print(term.On(std.Out))
		if _, err = fmt.Fprintln(std.Out, "\n"+term.Visible(m.Content)); err != nil || len(replaced) == 0 {
			return err
		}
		fmt.Fprintln(std.Out, "\nreplaces:")
		return printMemories(ctx, d, std, replaced, false)
	})
}

func newMemoryForget(f *config.Flags, std term.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "forget ID", Args: arguments,
		Short: "Remove a memory; the conversation that it came from does not teach it again.",
		Long: "Remove a memory by its id or the unique beginning of that; " +
			"the conversation that it came from does not teach it again.",
		RunE: func(_ *cobra.Command, args []string) error { return forgetMemory(args[0], asJSON, f, std) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print what went as JSON.")
	return cmd
}

func forgetMemory(id string, asJSON bool, f *config.Flags, std term.Streams) error {
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		m, err := d.Memories.Get(ctx, id)
		if err != nil {
			return err
		}
		if err := d.Memories.Forget(ctx, m.ID); err != nil {
			return err
		}
		if asJSON {
			return printMemories(ctx, d, std, []embedded.Memory{m}, true)
		}
		std.Say("forgotten: %s", m.ID)
		return nil
	})
}

const saidToo = "With the passages of conversations, which go when these go."

func newMemoryEdit(f *config.Flags, std term.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "edit ID TEXT", Short: "Change what a memory says.", Args: arguments,
		Long: "Change what a memory says. What a conversation taught is not learned again as it was.",
		RunE: func(_ *cobra.Command, args []string) error {
			return changeMemory(args[0], embedded.Change{Content: &args[1], Source: "memory edit"}, "changed", asJSON, f, std)
		},
	}
	forScripts(cmd, &asJSON)
	return cmd
}

func newMemoryPin(f *config.Flags, std term.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "pin ID", Short: "Tell a memory to every session of its project, whatever the prompt.", Args: arguments,
		RunE: func(_ *cobra.Command, args []string) error {
			return changeMemory(args[0], embedded.Change{Source: embedded.Pinned}, "pinned", asJSON, f, std)
		},
	}
	forScripts(cmd, &asJSON)
	return cmd
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
			return printMemories(ctx, d, std, []embedded.Memory{m}, true)
		}
		std.Say("%s: %s", done, m.ID)
		return nil
	})
}
