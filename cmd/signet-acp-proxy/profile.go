package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/removal"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// newMemoryProfile makes the command about what stands in every first prompt; by itself it lists that.
func newMemoryProfile(p program) *cobra.Command {
	cmd := listProfile(p, "profile", "List, keep, edit or drop what every first prompt gets.")
	cmd.AddCommand(listProfile(p, "list", "List it: what is pinned, then what you stated, newest first."),
		p.forScripts(&cobra.Command{
			Use: "keep ID", ValidArgsFunction: memoryIDs(p.flags),
			Short: "Keep a line: it goes before those that you have not looked at.",
			RunE:  p.onOneMemory("kept", keepLine),
		}),
		p.forScripts(&cobra.Command{
			Use: "edit ID TEXT…", ValidArgsFunction: memoryIDs(p.flags),
			Short: "Change what a line says, and keep it.",
			RunE:  p.onOneMemory("changed", keepLine),
		}),
		p.forScripts(&cobra.Command{
			Use: "drop ID", ValidArgsFunction: memoryIDs(p.flags),
			Short: "Remove a line; it will not be learned again.",
			RunE: p.onOneMemory("dropped",
				func(ctx context.Context, d *runtime.Data, args []string) (embedded.Memory, error) {
					return removal.Removal{Std: p.std, Data: d}.Memory(ctx, args[0])
				}),
		}))
	return cmd
}

func listProfile(p program, name, short string) *cobra.Command {
	var filter embedded.Filter
	var here bool
	cmd := p.forScripts(&cobra.Command{
		Use: name, Short: short,
		PreRunE: func(*cobra.Command, []string) (err error) {
			if filter.Within = here; here {
				filter.Project, err = projectOf(".")
			}
			return err
		},
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, _ []string) error {
			if err := d.Memories.Learn(ctx); err != nil {
				return err
			}
			all, err := d.Memories.Profile(ctx, filter)
			if err == nil && term.IsPerson(p.std.Err) { // what is listed needs no announcement
				_, err = d.Memories.NewInProfile(ctx)
			}
			if err != nil {
				return err
			}
			return p.printMemories(ctx, d, all, len(all),
				"your profile is empty: rules and preferences that you type are added")
		}),
	})
	cmd.Flags().BoolVar(&here, "here", false, onlyHere)
	return cmd
}

// keepLine keeps a line of the profile, as the text that comes behind its id, if any.
func keepLine(ctx context.Context, d *runtime.Data, args []string) (embedded.Memory, error) {
	if err := onlyPerson("change the profile"); err != nil {
		return embedded.Memory{}, err
	}
	return d.Memories.Keep(ctx, args[0], strings.Join(args[1:], " "))
}
