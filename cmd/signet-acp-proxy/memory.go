package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/removal"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// newMemory makes the commands about the embedded store's memories. A daemon has commands of its own.
func newMemory(p program) *cobra.Command {
	return group("memory", "Search and change the memories of this machine.",
		newMemoryAdd(p), newMemorySearch(p), newMemoryFiles(p), newMemoryList(p), newMemoryShow(p), newMemoryEdit(p),
		newMemoryPin(p), newMemoryProfile(p), newMemoryPromote(p), newMemoryForget(p), newMemoryExport(p),
		newMemoryImport(p),
		newMemoryBackfill(p))
}

// onMemory makes the RunE of a command that changes a memory. A script gets the memory; a person what was done with it
// or, if done is "", its id.
func (p program) onMemory(done string,
	change func(context.Context, *runtime.Data, []string) (embedded.Memory, error),
) func(*cobra.Command, []string) error {
	return p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
		m, err := change(ctx, d, args)
		if err != nil {
			return err
		}
		return p.print([]embedded.Memory{m}, func(s term.Screen) error {
			if done == "" {
				_, err = fmt.Fprintln(s.W, m.ID)
				return err
			}
			p.std.Say("%s: %s", done, m.ID)
			return nil
		})
	})
}

// onOneMemory is onMemory for the memory that the first argument names. change gets its whole id in place of that.
func (p program) onOneMemory(done string,
	change func(context.Context, *runtime.Data, []string) (embedded.Memory, error),
) func(*cobra.Command, []string) error {
	return p.onMemory(done, func(ctx context.Context, d *runtime.Data, args []string) (embedded.Memory, error) {
		m, err := d.Memory(ctx, args[0])
		if err != nil {
			return m, err
		}
		return change(ctx, d, append([]string{m.ID}, args[1:]...))
	})
}

// sayKnown says that a memory was kept before, unless it was added.
func (p program) sayKnown(added bool, err error) error {
	if err == nil && !added {
		p.std.Say("already known; updated")
	}
	return err
}

// editMemory changes the memory whose id comes first to say what comes next.
func editMemory(ctx context.Context, d *runtime.Data, args []string) (embedded.Memory, error) {
	text := strings.Join(args[1:], " ")
	return d.Memories.Modify(ctx, args[0], embedded.Change{Content: &text, Source: "memory edit", Who: runtime.By()})
}

func pinMemory(ctx context.Context, d *runtime.Data, args []string) (embedded.Memory, error) {
	if err := onlyPerson("pin a memory"); err != nil {
		return embedded.Memory{}, err
	}
	return d.Memories.Modify(ctx, args[0], embedded.Change{Source: embedded.Pinned, Who: memory.Pin})
}

// onlyPerson is the error of what an agent asks for that only a person may do.
func onlyPerson(do string) error {
	if by := runtime.By(); by != memory.Typed {
		return fmt.Errorf("an agent cannot %s: ask the user to run this", do)
	}
	return nil
}

func newMemoryAdd(p program) *cobra.Command {
	m := embedded.Memory{Source: "memory add"}
	var dir string
	cmd := &cobra.Command{
		Use: "add TEXT…", SuggestFor: []string{"remember"}, Short: "Save a memory.",
		Long: "Save TEXT as a memory; - reads stdin.",
		PreRunE: func(cmd *cobra.Command, args []string) (err error) {
			if !(m.Importance >= 0 && m.Importance <= 1) {
				return errors.New("--importance must be from 0 to 1")
			}
			m.Content, m.ImportanceSet = strings.Join(args, " "), cmd.Flags().Changed("importance")
			if m.Content == "-" {
				text, err := io.ReadAll(io.LimitReader(p.std.In, embedded.MaxContent+1))
				if err != nil {
					return fmt.Errorf("reading stdin: %w", err)
				}
				m.Content = string(text)
			}
			if m.Who = runtime.By(); m.Who != memory.Typed {
				m.Personal = false // what an agent notes stays in its project
			}
			m.Project, err = projectOf(dir)
			return err
		},
		RunE: p.onMemory("", func(ctx context.Context, d *runtime.Data, _ []string) (embedded.Memory, error) {
			kept, added, err := d.Memories.Add(ctx, m)
			return kept, p.sayKnown(added || *p.asJSON, err)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&dir, "project", ".", "The project, by its `DIR`; \"\" for none.")
	flags.BoolVar(&m.Personal, "personal", false, "A preference of yours, for all projects.")
	flags.StringVar(&m.Type, "type", "", "Its `TYPE`: preference, decision, fact, …")
	flags.StringVar(&m.Tags, "tags", "", "Its tags: `A,B`.")
	flags.Float64Var(&m.Importance, "importance", 0, "How much it matters, a `NUMBER` from 0 to 1 (0.5).")
	complete(cmd, "project", folders)
	return p.forScripts(cmd)
}

func newMemoryShow(p program) *cobra.Command {
	return p.forScripts(&cobra.Command{
		Use: "show ID", ValidArgsFunction: memoryIDs(p.flags), Short: "Show one memory.",
		Long: "Show one memory, by its ID or a unique prefix.",
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
			m, err := d.Memory(ctx, args[0])
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
			return p.print([]embedded.Memory{m}, func(term.Screen) error {
				return report.Memory(ctx, d, p.std, m, replaced)
			})
		}),
	})
}

func newMemoryEdit(p program) *cobra.Command {
	return p.forScripts(&cobra.Command{
		Use: "edit ID TEXT…", ValidArgsFunction: memoryIDs(p.flags),
		Short: "Change a memory's text.",
		Long:  "Change a memory's text. The old text will not be learned again.",
		RunE:  p.onOneMemory("changed", editMemory),
	})
}

func newMemoryPin(p program) *cobra.Command {
	return p.forScripts(&cobra.Command{
		Use: "pin ID", ValidArgsFunction: memoryIDs(p.flags),
		Short: "Always recall a memory in its project, whatever the prompt.",
		RunE:  p.onOneMemory("pinned", pinMemory),
	})
}

func newMemoryPromote(p program) *cobra.Command {
	return p.forScripts(&cobra.Command{
		Use: "promote LINE", Short: "Copy a line of an agent's notes to the memories.",
		Long: "Copy a LINE of an agent's notes to the memories, for other agents; memory list --agents shows " +
			"the lines. Its own agent does not get it twice.",
		RunE: p.onMemory("",
			func(ctx context.Context, d *runtime.Data, args []string) (embedded.Memory, error) {
				m, added, err := d.Promote(ctx, args[0])
				return m, p.sayKnown(added || *p.asJSON, err)
			}),
	})
}

func newMemoryForget(p program) *cobra.Command {
	r := removal.Removal{Std: p.std}
	var from, dir string
	var filter embedded.Filter
	cmd := &cobra.Command{
		Use: "forget [ID]", ValidArgsFunction: memoryIDs(p.flags),
		Short: "Remove a memory; it will not be learned again.",
		Long: "Remove a memory, or all from one kind of source (--from), passages of conversations included; it " +
			"will not be learned again. For an hour, forget --undo restores it. ID may be a unique prefix.",
		PreRunE: func(cmd *cobra.Command, args []string) (err error) {
			if (len(args) == 0) == (from == "") {
				return errors.New("pass an ID or --from WHO")
			}
			if filter.Within = cmd.Flags().Changed("project"); filter.Within {
				if filter.Project, err = projectOf(dir); err != nil {
					return err
				}
			}
			filter.From, err = whoNamed(from)
			return err
		},
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
			r.Data = d
			if from != "" {
				removed, err := r.From(ctx, filter)
				if err != nil {
					return err
				}
				return p.print(append([]embedded.Memory{}, removed...), func(term.Screen) error {
					p.std.Say("%s forgotten", term.Count(len(removed), "memory"))
					if len(removed) > 0 {
						r.SayUndo()
					}
					return nil
				})
			}
			m, err := r.Memory(ctx, args[0])
			if err != nil {
				return err
			}
			return p.print([]embedded.Memory{m}, func(term.Screen) error {
				p.std.Say("forgotten: %s", m.ID)
				r.SayUndo()
				return nil
			})
		}),
	}
	cmd.Flags().BoolVar(p.asJSON, "json", false, "Print what was removed as JSON.")
	cmd.Flags().BoolVar(&r.ForGood, "for-good", false, forGoodHelp)
	cmd.Flags().StringVar(&from, "from", "", fromHelp)
	cmd.Flags().StringVar(&dir, "project", "", "With --from: only of this project, by its `DIR`.")
	complete(cmd, "project", folders)
	complete(cmd, "from", cobra.FixedCompletions(whos(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
